"""What ships: kind -> name -> (location, what it is in a line). Nothing here imports anything."""

TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "attacks": {
        "advdreamer": (
            "attacks.advdreamer:AdvDreamer",
            "The worst 3D poses of the object in a picture (AdvDreamer, ICCV 2025).",
        ),
        "evolution": (
            "attacks.evolution:Evolution",
            "Captions whose pictures are described badly, evolved (Blind Spot Navigation, 2025).",
        ),
        "mac": (
            "attacks.mac:MAC",
            "Rewritten captions that score higher than the true one (MAC, ACL 2025).",
        ),
        "mm3dtbench": (
            "attacks.mm3dtbench:MM3DTBench",
            "Questions about objects in odd poses, asked as they are; --dataset FILE.jsonl.",
        ),
    },
    "targets": {
        "miniature": (
            "targets.miniature.load:target",
            "Embedded models trained on toybox; miniature:NAME.",
        ),
        "open_clip": (
            "targets.open_clip:OpenClip",
            "Dual encoders of open_clip; open_clip:MODEL/PRETRAINED or open_clip:FOLDER.",
        ),
        "openai": (
            "targets.openai:OpenAI",
            "Models that answer behind an OpenAI-compatible server; openai:MODEL or openai:MODEL@URL.",
        ),
        "transformers": (
            "targets.transformers_dual:TransformersDualEncoder",
            "Dual encoders of transformers; transformers:ORG/NAME or transformers:FOLDER.",
        ),
        "transformers_lvlm": (
            "targets.transformers_lvlm:TransformersLVLM",
            "Vision-language models of transformers that answer; transformers_lvlm:ORG/NAME or :FOLDER.",
        ),
    },
    "tools": {
        "annotator": (
            "attacks.advdreamer.naturalness_annotator:Annotator",
            "How natural a picture is, in a vision-language model's eyes; annotator:TARGET.",
        ),
        "capture": (
            "metrics.capture.tool:CaptureTool",
            "How well a caption's scene graph covers another's; capture:parser=toybox,matching=exact.",
        ),
        "grammar": (
            "targets.miniature.grammar_writer:GrammarWriter",
            "Edits captions by the toybox grammar, without any model.",
        ),
        "miniature": (
            "targets.miniature.load:tool",
            "The embedded caption writer and naturalness model; miniature:NAME.",
        ),
        "openai": (
            "targets.openai:OpenAI",
            "Language models behind an OpenAI-compatible server; openai:MODEL or openai:MODEL@URL.",
        ),
        "naturalness": (
            "targets.naturalness:tool",
            "How natural a picture is, by heads of one's own on a DINOv2; naturalness:FOLDER.",
        ),
        "similarity": (
            "targets.similarity:Similarity",
            "Cosines of a dual encoder's embeddings; similarity:TARGET.",
        ),
        "text_to_image": (
            "attacks.advdreamer.published.synthesis:TextToImage",
            "Pictures from text by diffusers; text_to_image:ORG/NAME.",
        ),
        "toybox": (
            "benchmark.toybox.painter:ToyboxPainter",
            "Renders captions of the embedded world; toybox:PX for another size.",
        ),
        "transformers": (
            "targets.transformers_lm:TransformersLM",
            "Language models of transformers; transformers:ORG/NAME or transformers:FOLDER.",
        ),
    },
    "judges": {
        "mnli": (
            "metrics.entailment_mnli:MNLIEnsemble",
            "Three published entailment models (RoBERTa, DeBERTa, BART).",
        ),
        "toybox": (
            "metrics.entailment:ToyboxJudge",
            "Exact entailment between captions of the embedded world.",
        ),
    },
    "taggers": {
        "spacy": (
            "metrics.tagger_spacy:SpacyTagger",
            "Lemmas and parts of speech from spaCy's en_core_web_sm.",
        ),
        "toybox": ("metrics.taggers:ToyboxTagger", "Lemmas and parts of speech of toybox words."),
    },
    "parsers": {
        "factual": (
            "metrics.capture.parser_factual:FactualParser",
            "Scene graphs by FACTUAL's flan-T5; factual:ORG/NAME or factual:FOLDER for another one.",
        ),
        "toybox": (
            "metrics.capture.parser_toybox:ToyboxParser",
            "Scene graphs of toybox captions, by the grammar.",
        ),
    },
    "encoders": {
        "miniature": (
            "metrics.capture.encoders:miniature",
            "The text tower of an embedded dual encoder; miniature:NAME.",
        ),
        "openai": (
            "targets.openai_embeddings:OpenAIEncoder",
            "Embeddings of an OpenAI-compatible server; openai:MODEL or openai:MODEL@URL.",
        ),
        "sentence_transformers": (
            "metrics.capture.encoder_sentence:SentenceEncoder",
            "Models of sentence-transformers; sentence_transformers:ORG/NAME or FOLDER.",
        ),
        "tower": (
            "metrics.capture.encoders:TextTower",
            "The text tower of any dual encoder; tower:TARGET.",
        ),
    },
    "foregrounds": {
        "grabcut": (
            "attacks.advdreamer.foreground:GrabCut",
            "The object that stands out, or the one in a box, by shadow-aware GrabCut.",
        ),
        "grounded_sam": (
            "attacks.advdreamer.published.segmentation:GroundedSam",
            "GroundingDINO's box, outlined by SAM, SAM-HQ, SAM 2 or EdgeTAM; grounded_sam:ORG/NAME.",
        ),
        "sam3": (
            "attacks.advdreamer.published.segmentation:Sam3",
            "SAM 3, which is told the label; sam3:ORG/NAME.",
        ),
    },
    "backgrounds": {
        "diffusion": (
            "attacks.advdreamer.published.inpainting:DiffusionBackground",
            "Inpainting pipelines of diffusers; diffusion:ORG/NAME.",
        ),
        "inpainting": (
            "attacks.advdreamer.background:Inpainting",
            "Classical inpainting; inpainting:layered (default), inpainting:telea, inpainting:ns.",
        ),
    },
    "reconstructions": {
        "inflation": (
            "attacks.advdreamer.inflate:Inflation",
            "The silhouette inflated to a solid; inflation:auto (default), :round, :flat, :standing.",
        ),
        "triposr": (
            "attacks.advdreamer.published.reconstruction:TripoReconstruction",
            "TripoSR, marched on a GPU, as a mesh on a CPU; triposr:CHECKPOINT.",
        ),
    },
    "composers": {
        "blend": (
            "attacks.advdreamer.compose:Blend",
            "Shadow and alpha; blend:alpha (default), blend:reinhard, blend:seamless.",
        ),
        "diffusion": (
            "attacks.advdreamer.published.harmonisation:HarmonisingComposer.inpainting",
            "Repaints the seams and the shadow over another composer; diffusion:ORG/NAME.",
        ),
        "edit": (
            "attacks.advdreamer.published.harmonisation:HarmonisingComposer.editing",
            "Has an instruction-editing pipeline retouch them; edit:ORG/NAME.",
        ),
    },
    "datasets": {
        "coco": (
            "benchmark.datasets.coco:CocoDataset",
            "COCO captions in the Karpathy layout; needs --data-root DIR.",
        ),
        "mm3dtbench": (
            "benchmark.datasets.mm3dtbench:MM3DTBenchDataset",
            "Questions about pictures, JSON lines; mm3dtbench:FILE.jsonl or just FILE.jsonl.",
        ),
        "pairs": (
            "benchmark.datasets.pairs:PairsDataset",
            "A CSV file with columns image,caption[,id]; pairs:FILE.csv or just FILE.csv.",
        ),
        "photo": (
            "benchmark.datasets.photo:PhotoDataset",
            "One picture and its label; photo:FILE, or --image FILE --label NAME.",
        ),
        "searches": (
            "benchmark.datasets.searches:SearchesDataset",
            "Searches that start from nothing: evolution and its baselines.",
        ),
        "synthetic": (
            "attacks.advdreamer.published.synthesis:SyntheticScenes",
            "Objects and backgrounds painted from text by diffusers; synthetic:ORG/NAME.",
        ),
        "toybox": (
            "benchmark.datasets.toybox:ToyboxDataset",
            "Rendered scenes and captions of the embedded world.",
        ),
    },
    "criteria": {
        "auxiliary": (
            "metrics.caption_criteria:Auxiliary",
            "No added negation, and the edit is of the kind that was asked for.",
        ),
        "crossmodal": (
            "metrics.caption_criteria:Crossmodal",
            "The target scores the new caption above the true one.",
        ),
        "distance": (
            "metrics.caption_criteria:Distance",
            "The edit is no longer than the limit in words.",
        ),
        "false_of_image": (
            "metrics.caption_criteria:FalseOfImage",
            "Observation: the new caption is really false of the scene (toybox only).",
        ),
        "misanswered": (
            "metrics.answers:Misanswered",
            "The target's answer to the sample's question is wrong.",
        ),
        "misclassified": (
            "metrics.pose_criteria:Misclassified",
            "The target scores another label above the true one.",
        ),
        "recognised": (
            "metrics.pose_criteria:Recognised",
            "Observation: the target scores the true label highest for the clean picture.",
        ),
        "tie": (
            "metrics.caption_criteria:Tie",
            "Observation: both captions score the same.",
        ),
        "undescribed": (
            "metrics.evolution_criteria:Undescribed",
            "The target's answer covers little of the caption: CAPTURE below blind_below.",
        ),
        "unimodal": (
            "metrics.caption_criteria:Unimodal",
            "The new caption does not follow from the true one, in the judge's eyes.",
        ),
        "unnamed": (
            "metrics.pose_criteria:Unnamed",
            "The target's answer does not name the label.",
        ),
    },
    "metrics": {
        "answer_accuracy": (
            "metrics.answer_rates:AnswerAccuracy",
            "Share of right answers, over all and by source, orientation and label.",
        ),
        "concepts": (
            "metrics.concepts:Concepts",
            "What the captions that a search ends with name beyond measure, against the initial ones.",
        ),
        "edit_diversity": (
            "metrics.diversity:EditDiversity",
            "Entropy H, normalised H and distinct-1 of the edited words.",
        ),
        "evolution_rates": (
            "metrics.evolution_rates:EvolutionRates",
            "CAPTURE of random and of final captions, selected and fresh, by search, with intervals.",
        ),
        "pose_accuracy": (
            "metrics.pose_rates:PoseAccuracy",
            "Accuracy under each condition, of pictures and of the true object, with intervals.",
        ),
        "success_rates": (
            "metrics.rates:SuccessRates",
            "Attack success rates, of each criterion and in total, with intervals.",
        ),
    },
    "answer_metrics": {
        "captions": (
            "metrics.answer_metrics:Captions",
            "CIDEr-D, CIDEr and BLEU-1 to BLEU-4, without Java.",
        ),
        "gpt_acc": (
            "metrics.answer_metrics:GptAcc",
            "The share of answers that a judge finds correct; needs --judge.",
        ),
        "gpt_score": (
            "metrics.answer_metrics:GptScore",
            "Semantic accuracy, tone confidence and coherence, 1 to 10 each; needs --judge.",
        ),
        "spice": (
            "metrics.answer_metrics:Spice",
            "SPICE by pycocoevalcap, which needs Java.",
        ),
    },
    "leaderboards": {
        "entries": (
            "leaderboards.keeper:Keeper",
            "A folder of entries, one a run: validated, recomputed, shown as a static site.",
        ),
    },
    "scorers": {
        "capture": (
            "metrics.capture.score_pairs:score_captions",
            "CAPTURE of captions or scene graphs against references.",
        ),
        "mac": (
            "metrics.score_mac:score_pairs",
            "MAC's measures of caption pairs that somebody else made.",
        ),
    },
}
