// The answer, sentence by sentence, each with its citations and its check.

import { events } from "./api.js";
import { askBody, toAddress } from "./asked.js";
import { byId, disclosure, fill, h, langOf, style } from "./dom.js";
import { citingAnswer } from "./exports.js";
import { has, learn, moment, number, t } from "./i18n.js";
import { judges, verdicts } from "./judging.js";
import { store, stored } from "./kept.js";
import { byline, hitAddress, linked, placeOf } from "./papers.js";
import { closePassage, openPassage } from "./passage.js";
import { showEvidenceBadges } from "./results.js";
import { describe, say, sayProblem } from "./status.js";

await Promise.all([learn("answer"), style("answer.css")]);

const SIGNS = { supported: "✓", unsupported: "✗", "not checked": "?", excluded: "⊘" };
const KEY = "shrag-answers";
const KEPT = 6;
const ANSWER_STEP = "answer (model)";
const QUOTATIONS = "passages";
const MOST_EARLIER = 20; // questions

/** Show an answer as it arrives; an answer from this session is shown again unchanged. */
export async function showAnswer(asked, options) {
  const { signal, again = false, repeat } = options;
  const body = byId("answer-body");
  const address = toAddress(asked);
  closePassage();
  showEvidenceBadges([]);
  body.dataset.answers = address;
  const view = answerView(asked, body, options);
  const kept = !again && keptAnswers().find((each) => each.address === address);
  if (kept) {
    view.evidence(kept.done);
    view.done(kept.done, h("p", { class: "quiet" }, t("answered_at", { time: moment(kept.at) }), " ", h("button", { type: "button", class: "plain", onclick: repeat }, t("ask_again"))));
    return kept.done;
  }
  try {
    for await (const { kind, data } of events("/api/v1/ask", askBody(asked), signal)) {
      if (signal.aborted) return undefined;
      if (kind === "done") {
        view.done(data);
        keep({ address, at: new Date().toISOString(), done: data });
        return data;
      }
      if (kind === "error") throw Object.assign(new Error(data.detail), data);
      view[kind]?.(data);
    }
    throw Object.assign(new Error(), { code: "cut-off" });
  } catch (error) {
    if (error.name === "AbortError" || signal.aborted) return undefined;
    view.failed(error, repeat);
    return undefined;
  }
}

function answerView(asked, body, { useStrategy, goOn }) {
  const title = h("p", { class: "title", "data-waiting": true }, t("answer_searching"));
  const titleCheck = h("div", { "data-title-check": true });
  const notes = h("div");
  const strategyPlace = h("div");
  const likelihood = h("p", { class: "quiet", "data-likelihood": true });
  const sections = h("div", { "aria-busy": "true" });
  const cited = h("div");
  const citing = h("div");
  const colophon = h("div", { class: "colophon" });
  const next = h("div", { class: "next" });
  fill(body, likelihood, title, titleCheck, notes, strategyPlace, sections, cited, citing, colophon, next);
  let hits = [];
  let searched = []; // keywords of the search
  let index = asked.index || byId("index").value;
  let rows = [];

  const view = {
    step({ name }) {
      if (!has(`step_${name}`)) return;
      title.textContent = t(`step_${name}`);
      say(title.textContent);
    },
    keywords({ strategy }) {
      if (strategy?.origin !== "model" || asked.strategy) return;
      const words = [...strategy.ko, ...strategy.en].map((text, at) => [at > 0 && ", ", h("span", { lang: langOf(text) }, text)]);
      fill(strategyPlace, h("p", { class: "quiet", "data-answer-strategy": true }, t("answer_strategy"), " ", words, " ",
        h("button", { type: "button", class: "plain", onclick: () => useStrategy(strategy) }, t("use_strategy"))));
    },
    evidence(data) {
      hits = data.hits ?? data.evidence ?? [];
      index = placeOf(data) ?? index;
      searched = [...(data.strategy?.ko ?? []), ...(data.strategy?.en ?? [])];
      fill(likelihood, typeof data.likelihood === "number" ? t("likelihood", { percent: number(Math.round(100 * data.likelihood)) }) : "");
      showEvidenceBadges(hits.map((hit) => hit.doc_id));
    },
    sentence(data) {
      titleCheck.classList.add("expected"); // room for the check of the title
      rows[data.index ?? rows.length] = data;
      place(data);
    },
    check({ index: at, check, hints }) {
      rows[at] = { ...rows[at], check, hints };
      sections.querySelector(`[data-sentence="${at}"]`)?.replaceWith(sentenceElement(rows[at], at));
    },
    restart({ reason }) {
      rows = [];
      fill(sections);
      const why = has(`restart_${reason}`) ? t(`restart_${reason}`) : t("restart_changed");
      fill(notes, h("p", { class: "quiet", "data-restart": reason }, why));
      say(why);
    },
    done(whole, before) {
      const answer = whole.answer;
      index = placeOf(whole) ?? index;
      if (!hits.length) view.evidence(whole);
      sections.setAttribute("aria-busy", "false");
      delete title.dataset.waiting;
      titleCheck.classList.remove("expected");
      title.textContent = answer.title ?? "";
      title.lang = langOf(answer.title, answer.language);
      const citations = answer.sentences.flatMap((sentence) => sentence.citations);
      fill(titleCheck, answer.title_check && !answer.abstained && checkMark(answer.title_check, answer.title_hints, numbersOf(citations)));
      const same = rows.length === answer.sentences.length && rows.every((row, at) => row?.text === answer.sentences[at].text && row.check === answer.sentences[at].check);
      rows = answer.sentences;
      if (!same) { fill(sections); rows.forEach((row, at) => place({ ...row, index: at })); }
      showSources(answer.abstained ? "nearest" : "evidence");
      if (answer.abstained) {
        const near = rows.length ? t("abstained_quotes") : t("abstained_near");
        const unknown = whole.unknown_words ?? [];
        const named = unknown.length > 0 && h("p", {}, t("abstained_unknown"), " ", unknown.map((word, place) => [place > 0 && ", ", h("q", { lang: langOf(word) }, word)]));
        sections.prepend(h("div", { class: "plainly", "data-abstained": true }, h("p", {}, h("b", {}, t("abstained"))), named, h("p", {}, near)));
        title.textContent = "";
      }
      const model = answer.written_by !== "extractive" && answer.written_by;
      const failed = !model && ANSWER_STEP in (whole.milliseconds ?? {}); // the model was called, and the rules wrote the answer
      if (failed) fill(notes, h("p", { class: "box", "data-model-failed": true }, t("model_failed")));
      if (before) notes.prepend(before);
      if (asked.earlier.length) notes.prepend(h("p", { class: "quiet", "data-meant": true }, t("searched_for"), " ", h("q", { lang: langOf(whole.question) }, whole.question)));
      if (hits.length && !answer.abstained) {
        const [cite, place] = disclosure(`▸ ${t("cite_answer")}`, () => citingAnswer(asked.question, answer, hits, index), { "data-cite-answer": true });
        fill(citing, h("div", { class: "actions" }, cite), place);
      }
      fill(colophon, checks(answer),
        h("p", { "data-written-by": answer.written_by }, model ? t("written_by", { name: model }) : t("written_extractive")),
        judges && h("p", { "data-judge-answer": true }, t("judge_answer"), " ", verdicts([["helpful", t("yes")], ["not helpful", t("no")]], t("judge_answer"), () => ({ question: whole.question, place: index, written_by: answer.written_by }))));
      if (judges) judgeSentences(whole);
      fill(next, furtherQuestion(asked, goOn));
      const supported = rows.filter((row) => row.check === "supported").length;
      const done = model ? t("answer_done", { n: rows.length, supported }) : t("answer_quoted", { n: rows.length });
      say(answer.abstained ? t("abstained") : done);
    },
    failed(error, repeat) {
      sections.setAttribute("aria-busy", "false");
      title.textContent = "";
      showSources();
      sections.classList.toggle("withdrawn", rows.length > 0);
      notes.prepend(describe(error, repeat));
      sayProblem(error);
    },
  };

  function checks({ checked_by: judge, written_by }) {
    const count = (check) => rows.filter((row) => row.check === check).length;
    const counts = Object.keys(SIGNS).map((check) => [check, count(check)]).filter(([, n]) => n);
    if (!counts.length) return "";
    const said = counts.map(([check, n]) => `${SIGNS[check]} ${number(n)} ${t(`check_${check}`)}`).join(" · ");
    return h("p", {}, t("checked"), " ", said, " ", written_by !== "extractive" && h("span", {}, judge ? t("checked_by", { name: judge }) : t("checked_by_nobody")));
  }

  // After the last sentence, so that arriving sentences do not move.
  function showSources(heading = "evidence") {
    if (hits.length) fill(cited, h("h3", {}, t(heading)), h("ol", { class: "evidence" }, hits.map(source)));
  }

  const numbersOf = (citations) => [...new Set(citations)].map((id) => hits.findIndex((hit) => hit.passage_id === id) + 1).filter(Boolean).map((n) => `[${n}]`).join(" ");

  function place(data) {
    const name = data.section ?? "body";
    let section = sections.querySelector(`[data-section="${name}"]`);
    if (!section) {
      const heading = name !== QUOTATIONS && h("h3", {}, t(`section_${name}`)); // the title replaces the heading of quotations
      section = h("div", { "data-section": name, role: "group", "aria-label": t(`section_${name}`) }, heading);
      sections.append(section);
    }
    section.append(sentenceElement(data, data.index ?? rows.length - 1));
  }

  function sentenceElement({ text, citations, check, hints = [] }, at) {
    const cites = citations.map((id) => {
      const place = hits.findIndex((hit) => hit.passage_id === id);
      const label = place < 0 ? id : String(place + 1);
      const named = t("citation", { n: label, title: hits[place]?.title ?? id });
      const open = () => hits[place] && openPassage(hits[place], { number: label, sentence: text, searched, index }, button);
      const button = h("button", { type: "button", class: "cite", "aria-expanded": "false", "aria-label": named, "data-cites": id, onclick: open }, `[${label}]`);
      return button;
    });
    const sentence = (...behind) => h("div", { class: "sentence", "data-sentence": at, "data-check": check },
      h("span", { lang: langOf(text) }, text), " ", cites, " ", behind);
    if (check === "quoted") return sentence(h("span", { class: "quiet" }, `(${t("said_quoted")})`));
    const numbers = numbersOf(citations);
    const uncited = check === "unsupported" && !citations.length;
    return sentence(checkMark(check, hints, numbers, uncited ? t("said_uncited") : undefined), judges && h("span", { "data-judge-sentence": at }));
  }

  // When the answer is complete: then the question and the writer are known, and no check changes any more.
  function judgeSentences({ question, answer: { written_by } }) {
    for (const place of sections.querySelectorAll("[data-judge-sentence]")) {
      const { text, citations, check } = rows[place.dataset.judgeSentence];
      const judged = () => ({ question, place: index, sentence: { text, citations, check }, written_by });
      if (citations.length) fill(place, verdicts([["supported", t("right_citation")], ["not supported", t("wrong_citation")]], t("judge_sentence"), judged));
    }
  }

  function source(hit, place) {
    const label = String(place + 1);
    const open = h("button", { type: "button", class: "plain", "aria-expanded": "false", onclick: () => openPassage(hit, { number: label, index }, open) }, t("show_passage"));
    return h("li", { "data-evidence": hit.passage_id }, h("span", { class: "number" }, `[${label}]`),
      h("div", {}, linked(hitAddress(hit, index), { lang: langOf(hit.title, hit.lang) }, hit.title || hit.doc_id),
        h("p", { class: "meta" }, byline(hit), " ", open),
        h("p", { class: "print-only", lang: langOf(hit.text ?? "", hit.lang) }, hit.text ?? "")));
  }
  return view;
}

/** The mark of a check; it opens the explanation. */
function checkMark(check, hints = [], numbers = "", said = t(`said_${check}`, { numbers })) {
  return disclosure(`${SIGNS[check] ?? "?"} ${said}`, () => explanationOf(check, hints, numbers), { class: "check-mark", "data-check": check });
}

/** Explain a check: its meaning, and the hints. */
function explanationOf(check, hints, numbers) {
  const listed = hints.filter(({ code }) => code !== "citation"); // the mark says it
  return h("div", { class: "why" }, (numbers || check !== "unsupported") && h("p", {}, t(`means_${check}`, { numbers })),
    listed.length > 0 && h("ul", {}, listed.map(({ code, values }) => h("li", { "data-hint": code }, t(`hint_${code}`, values)))));
}

const keptAnswers = () => stored(sessionStorage, KEY) ?? [];
const keep = (answer) => store(sessionStorage, KEY, [answer, ...keptAnswers().filter((each) => each.address !== answer.address)].slice(0, KEPT));

/** Create the form for a further question; `ask` is called with the parts of the next search. */
function furtherQuestion(asked, ask) {
  const field = h("input", { type: "text", maxlength: 20_000, "aria-label": t("further_question"), placeholder: t("further_question") });
  const submit = (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (question) ask({ question, earlier: [...asked.earlier, asked.question].slice(-MOST_EARLIER), strategy: null, skip: [] });
    else field.focus();
  };
  return h("form", { class: "add", "data-further": true, onsubmit: submit }, field, h("button", {}, t("ask")));
}
