"use strict";
// Every column whose title is a button sorts its table; missing numbers stay at the end.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = head.dataset.first || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows].map((row) => [row, row.cells[column].dataset.value]);
      const isNumber = head.classList.contains("number");
      rows.sort(([, a], [, b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");
        return sign * (isNumber ? Number(a) - Number(b) : a.localeCompare(b));
      });
      body.append(...rows.map(([row]) => row));
    });
  });
}
