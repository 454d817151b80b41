//! Refusals in several languages.
//!
//! A refusal opens with words that no answer opens with, or with an inability (`I cannot`) that is
//! followed by a verb of helping (`assist`). After an apology, the inability is enough.

use super::is_missing;

/// Texts that open a refusal whatever follows.
const OPENINGS: &[&str] = &[
    "as an ai,",
    "as an ai i",
    "as an ai language model",
    "as an ai model",
    "as an ai assistant",
    "as an ai system",
    "as an artificial intelligence",
    "as a language model",
    "as a large language model",
    "i'm just an ai",
    "i am just an ai",
    "i'm an ai",
    "i am an ai",
    "i must decline",
    "i have to decline",
    "i will have to decline",
    "als ki,",
    "als ki kann",
    "als ki-",
    "als sprachmodell",
    "als künstliche intelligenz",
    "en tant qu'ia",
    "en tant qu'intelligence artificielle",
    "en tant que modèle de langage",
    "como ia",
    "como modelo de lenguaje",
    "como modelo de linguagem",
    "como una ia",
    "como uma ia",
    "come modello linguistico",
    "in quanto ia",
    "как языковая модель",
    "как ии",
    "作为一个ai",
    "作为ai",
    "作为人工智能",
];

/// Phrases of languages whose sentences end with the inability, or don't separate words.
const PHRASES: &[&str] = &[
    "我无法回答",
    "我无法提供",
    "我无法帮助",
    "我无法协助",
    "我无法满足",
    "我不能回答",
    "我不能提供",
    "我不能帮助",
    "我不能协助",
    "无法回答",
    "无法提供",
    "无法协助",
    "お答えできません",
    "お答えすることはできません",
    "お手伝いできません",
    "お手伝いすることはできません",
    "対応できません",
    "도와드릴 수 없습니다",
    "도와 드릴 수 없습니다",
    "답변할 수 없습니다",
];

/// Apologies, after which any inability is a refusal.
const APOLOGIES: &[&str] = &[
    "i'm sorry",
    "i am sorry",
    "i'm really sorry",
    "i'm very sorry",
    "i'm so sorry",
    "sorry",
    "i apologize",
    "i apologise",
    "my apologies",
    "apologies",
    "unfortunately",
    "i regret",
    "i'm afraid",
    "i am afraid",
    "es tut mir leid",
    "tut mir leid",
    "entschuldigung",
    "leider",
    "je suis désolée",
    "je suis désolé",
    "désolée",
    "désolé",
    "malheureusement",
    "lo siento",
    "lamentablemente",
    "mi dispiace",
    "purtroppo",
    "sinto muito",
    "desculpe",
    "infelizmente",
    "к сожалению",
    "извините",
    "простите",
    "het spijt me",
];

/// Words between an apology and what it is for.
const LINKS: &[&str] = &[
    "but",
    "that",
    "however",
    "for any inconvenience",
    "aber",
    "dass",
    "mais",
    "pero",
    "ma",
    "mas",
    "но",
    "maar",
    "this",
    "it",
    "to say",
    "if",
    "and",
    "though",
    "unfortunately",
];

/// What a refusal says of the one who gives it.
struct Inability {
    openings: &'static [&'static str],
    /// A word in the same sentence that negates the opening, if it isn't negative itself.
    negations: &'static [&'static str],
    /// The verbs of helping, one of which must follow unless there was an apology.
    verbs: &'static [&'static str],
}

const ENGLISH_VERBS: &[&str] = &[
    "help",
    "assist",
    "answer",
    "provide",
    "comply",
    "fulfil",
    "fulfill",
    "solve",
    "give you",
    "give a",
    "give an",
    "give the",
    "continue",
    "discuss",
    "create",
    "generate",
    "support",
    "engage",
    "respond",
    "do that",
    "do this",
    "process",
    "complete",
    "offer",
    "share",
    "access",
    "browse",
    "determine the answer",
    "tell you",
    "write",
    "produce",
    "participate",
    "accommodate",
    "proceed",
    "work on this",
    "handle",
    "recommend",
    "advise",
    "address",
    "perform",
];

const INABILITIES: &[Inability] = &[
    Inability {
        openings: &[
            "i don't know",
            "i do not know",
            "i don't have",
            "i do not have",
        ],
        negations: &[],
        verbs: &["the answer", "enough", "how to", "information", "access"],
    },
    Inability {
        openings: &[
            "i cannot",
            "i can't",
            "i can not",
            "i could not",
            "i couldn't",
            "i am unable to",
            "i'm unable to",
            "i am not able to",
            "i'm not able to",
            "i won't",
            "i will not",
            "i'm not going to",
            "i am not going to",
            "i'm not comfortable",
            "i am not comfortable",
            "i don't feel comfortable",
            "i do not feel comfortable",
            "i'm not allowed to",
            "i am not allowed to",
            "i'm not permitted to",
            "i am not permitted to",
            "i'm not in a position to",
            "i do not have the ability to",
            "i don't have the ability to",
            "i don't have access to",
            "i do not have access to",
            "we cannot",
            "we can't",
            "we are unable to",
            "unable to",
            "cannot",
            "can't",
        ],
        negations: &[],
        verbs: ENGLISH_VERBS,
    },
    Inability {
        openings: &[
            "ich kann",
            "ich darf",
            "ich bin nicht in der lage",
            "ich möchte",
            "das kann ich",
            "dabei kann ich",
        ],
        negations: &["nicht", "keine", "keinen"],
        verbs: &[
            "helfen",
            "beantworten",
            "antworten",
            "antwort",
            "weiterhelfen",
            "unterstützen",
            "erfüllen",
            "nachkommen",
            "behilflich",
            "lösen",
            "auskunft",
            "bereitstellen",
        ],
    },
    Inability {
        openings: &[
            "je ne peux",
            "je ne suis pas en mesure",
            "je ne puis",
            "je suis dans l'incapacité",
        ],
        negations: &[],
        verbs: &[
            "aider",
            "répondre",
            "fournir",
            "assister",
            "satisfaire",
            "donner",
            "traiter",
            "résoudre",
        ],
    },
    Inability {
        openings: &[
            "no puedo",
            "no me es posible",
            "no estoy en condiciones",
            "no soy capaz",
        ],
        negations: &[],
        verbs: &[
            "ayudar",
            "ayudarte",
            "ayudarle",
            "responder",
            "proporcionar",
            "asistir",
            "cumplir",
            "resolver",
            "ofrecer",
        ],
    },
    Inability {
        openings: &["non posso", "non sono in grado", "non mi è possibile"],
        negations: &[],
        verbs: &[
            "aiutare",
            "aiutarti",
            "aiutarla",
            "rispondere",
            "fornire",
            "assistere",
            "risolvere",
        ],
    },
    Inability {
        openings: &["não posso", "não consigo", "não sou capaz"],
        negations: &[],
        verbs: &[
            "ajudar",
            "ajudá-lo",
            "responder",
            "fornecer",
            "atender",
            "resolver",
            "auxiliar",
        ],
    },
    Inability {
        openings: &["ik kan", "ik mag", "daar kan ik", "dat kan ik"],
        negations: &["niet", "geen"],
        verbs: &["helpen", "beantwoorden", "antwoord", "voldoen", "geven"],
    },
    Inability {
        openings: &["я не могу", "я не в состоянии", "не могу"],
        negations: &[],
        verbs: &[
            "помочь",
            "ответить",
            "предоставить",
            "выполнить",
            "решить",
            "обсуждать",
        ],
    },
    Inability {
        openings: &["nie mogę", "nie jestem w stanie"],
        negations: &[],
        verbs: &["pomóc", "odpowiedzieć", "udzielić", "podać"],
    },
];

/// Sentences that deny a request without naming who denies it.
const DENIALS: &[&str] = &[
    "is against my",
    "violates my",
    "violates our",
    "goes against my",
    "against policy",
    "not something i can",
    "beyond my capabilities",
    "outside my capabilities",
    "beyond my scope",
    "not able to help",
    "not appropriate",
    "my guidelines",
];

/// Returns whether a text in lower case declines to answer.
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text.trim_start_matches(['*', '_', '#', '>', '[', '(', ' ']);

    if starts_with_any(text, OPENINGS) || has_phrase(text) {
        return true;
    }

    let after = after_apology(text);
    let rest = after.unwrap_or(text);
    let is_sorry = after.is_some();
    if is_sorry && (starts_with_any(rest, OPENINGS) || is_missing(rest) || is_no(rest)) {
        return true;
    }

    let sentence = sentence(rest);
    if !is_sorry {
        return INABILITIES
            .iter()
            .any(|inability| inability.opens(sentence, false));
    }

    let is_denied = DENIALS.iter().any(|denial| sentence.contains(denial));
    is_denied
        || clauses(sentence).any(|clause| {
            INABILITIES
                .iter()
                .any(|inability| inability.opens(clause, true))
        })
}

/// Returns the clauses of a sentence, without the words that link them.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let clauses = sentence.split([',', ';', '—', '–']);
    let clauses = clauses.flat_map(|clause| clause.split(" but "));
    clauses.map(|clause| {
        let clause = clause.trim();
        without_opening(clause, LINKS).unwrap_or(clause)
    })
}

impl Inability {
    /// Returns whether a sentence opens with this inability.
    fn opens(&self, sentence: &str, is_sorry: bool) -> bool {
        let Some(opening) = self
            .openings
            .iter()
            .find(|opening| starts_with(sentence, opening))
        else {
            return false;
        };

        let is_negative = self.negations.is_empty() || opening.contains("nicht");
        let is_negated = is_negative || self.negations.iter().any(|word| has_word(sentence, word));
        is_negated && (is_sorry || self.verbs.iter().any(|verb| has_word(sentence, verb)))
    }
}

/// Returns whether one of the first two sentences, of which the first may be an apology, has one of
/// the phrases.
fn has_phrase(text: &str) -> bool {
    let mut sentences = text.split(is_end).take(2);
    sentences.any(|sentence| PHRASES.iter().any(|phrase| sentence.contains(phrase)))
}

/// Returns the text after its apologies; `None` if it doesn't open with one.
fn after_apology(text: &str) -> Option<&str> {
    let mut rest = without_opening(text, APOLOGIES)?;

    while let Some(after) =
        without_opening(rest, LINKS).or_else(|| without_opening(rest, APOLOGIES))
    {
        rest = after;
    }

    Some(rest)
}

/// Returns the text after one of several openings and the punctuation that follows it.
fn without_opening<'t>(text: &'t str, openings: &[&str]) -> Option<&'t str> {
    let opening = openings.iter().find(|opening| starts_with(text, opening))?;
    let rest = text.get(opening.len()..)?;
    let rest = rest.trim_start_matches([' ', ',', '.', '!', ':', ';', '-', '–', '—']);

    (!rest.is_empty()).then_some(rest)
}

/// Returns the first sentence of a text.
fn sentence(text: &str) -> &str {
    let end = text.find(is_end);
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn is_end(mark: char) -> bool {
    ".!?\n。！？".contains(mark)
}

fn starts_with_any(text: &str, openings: &[&str]) -> bool {
    openings.iter().any(|opening| starts_with(text, opening))
}

/// Returns whether a text starts with these words, and not with the start of a longer one.
fn starts_with(text: &str, words: &str) -> bool {
    let is_open = words.ends_with(|end: char| !end.is_alphanumeric() || !end.is_ascii());
    text.strip_prefix(words)
        .is_some_and(|rest| is_open || !rest.starts_with(char::is_alphanumeric))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + found.len()..).unwrap_or_default();
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

/// Returns whether a text is nothing but "no".
fn is_no(text: &str) -> bool {
    matches!(
        super::bare(text),
        "no" | "nein" | "non" | "não" | "нет" | "nee"
    )
}
