"""The words for papers and for research in English and Korean questions."""

# "Research funding" and 연구비 are no papers.
ENGLISH_PAPERS = (
    r"(?:papers?|studies|articles?|literature|publications?|reviews|preprints?|theses|dissertations?"
    r"|(?:a|the|any|each|recent|new|this) study"
    r"|research(?!\s+(?:and development|funding|funds?|spending|budgets?|grants?|policy|policies|institut\w+"
    r"|universit\w+|cent(?:er|re)s?|investments?|groups?|teams?|expenditures?|stations?|money|jobs?))"
    r"|(?:\A|(?:recent|prior|previous|earlier|existing|new|find)\s+)works?)"
)
KOREAN_PAPERS = (
    r"(?:연구(?!개발|비|원|소|자|실|진|팀|기관|단체|인력|투자|재단|윤리|용)|논문|문헌|학술지|학위\s*논문)"
)
