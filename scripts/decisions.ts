import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeOrCheck } from './compare.ts'
import type { Source } from './house-rules.ts'

/**
 * The records of decisions (docs/decisions), and the comments that name them. `npm run decisions` writes their list;
 * `--check` only compares. The house rules read all of it.
 */

const FOLDER = 'docs/decisions/'
const LIST = `${FOLDER}README.md`

interface Decision {
  path: string
  number: string
  title: string
  state: string
  /** The files in which a comment names the record. */
  files: readonly string[]
}

/** One of the lines under the title. It may go on in lines that are indented. */
const line = (name: string, text: string) => `- ${name}: (${text}(?:\\n {2}[^\\n]+)*)\\n`

const FILE = '`[\\w./-]+\\.ts`'

const HEAD = new RegExp(
  [
    '^# (?<number>\\d{4}): (?<title>[^\\n]+)\\n\\n',
    line('Date', '\\d{4}-\\d\\d-\\d\\d'),
    line('State', '(?:stands\\b|replaced by \\[\\d{4}\\]\\()[^\\n]*').replace('(', '(?<state>'),
    line('In the code', `(?:nothing|${FILE})[^\\n]*`).replace('(', '(?<code>'),
    '\\n',
  ].join(''),
)

const HEAD_WANTED =
  'begins with "# 0012: Title" and three lines: "- Date: 2026-01-31", "- State: stands" or "- State: replaced by ' +
  '[0034](0034-its-name.md)", and "- In the code: `src/a.ts`" ("nothing" once it is replaced)'

/** Reads the head of a record. Returns null where it is not as it must be. */
function readDecision({ path, text }: Source): Decision | null {
  const { number = '', title = '', state = '', code = '' } = HEAD.exec(text)?.groups ?? {}
  const files = [...code.matchAll(new RegExp(FILE, 'g'))].map(([name]) => name.slice(1, -1))
  if (number === '' || !basename(path).startsWith(`${number}-`)) return null
  if (files.length === 0 && !state.startsWith('replaced')) return null
  return { path, number, title, state: state.replace(/\s+/g, ' '), files }
}

/** The numbers of records that comments of a file name. A block comment is read as one line. */
const namedIn = ({ text }: Source): Set<string> =>
  new Set(
    text
      .replace(/\n[ \t]*\*(?!\/) ?/g, ' ')
      .split('\n')
      .flatMap((each) => /(?:^\s*|\s)\/[*/].*/.exec(each)?.[0] ?? [])
      .flatMap((comment) => [...comment.matchAll(/\bdecision (\d{4})\b/gi)])
      .map(([, number = '']) => number),
  )

const isRecord = ({ path }: Source): boolean => path.startsWith(FOLDER) && path !== LIST

const listDecisions = (pages: readonly Source[]): Decision[] =>
  pages
    .filter(isRecord)
    .flatMap((page) => readDecision(page) ?? [])
    .sort((a, b) => (a.path < b.path ? -1 : 1))

/** Records without their head or with a number of another one, and records and code that do not name each other. */
export function findLostDecisions(pages: readonly Source[], sources: readonly Source[]): string[] {
  const decisions = listDecisions(pages)
  const named = new Map(sources.map((source) => [source.path, namedIn(source)]))
  const byNumber = Map.groupBy(decisions, ({ number }) => number)
  const isListed = (path: string, number: string) =>
    byNumber.get(number)?.some(({ files }) => files.includes(path))
  const readable = new Set(decisions.map(({ path }) => path))
  return [
    ...pages
      .filter((page) => isRecord(page) && !readable.has(page.path))
      .map(({ path }) => `${path}: a record ${HEAD_WANTED}`),
    ...[...byNumber].flatMap(([number, [, ...more]]) =>
      more.map(({ path }) => `${path}: another record has the number ${number}`),
    ),
    ...decisions.flatMap(({ path, number, files }) =>
      files
        .filter((file) => !named.get(file)?.has(number))
        .map((file) => `${path}: no comment of ${file} names "decision ${number}"`),
    ),
    ...[...named].flatMap(([path, numbers]) =>
      [...numbers]
        .filter((number) => !isListed(path, number))
        .map((number) => `${path}: no record ${number} in ${FOLDER} lists this file`),
    ),
  ]
}

/** Writes the list of all records as a page. */
export function writeList(pages: readonly Source[]): string {
  const rows = listDecisions(pages).map(
    ({ path, number, title, state }) =>
      `| [${number}](${basename(path)}) | ${title} | ${state} |\n`,
  )
  return `# Decisions

The reasons behind design choices, half a page each. The head of each record says when it was made, whether it stands,
and which files have a comment about it. This page is written from these heads by \`npm run decisions\`.

| Record | Decision | State |
|---|---|---|
${rows.join('')}`
}

/** Whether the list of records is the one that their heads make. */
export const findOldList = (pages: readonly Source[]): string[] =>
  pages.find(({ path }) => path === LIST)?.text === writeList(pages)
    ? []
    : [`${LIST}: is not the list of the records; npm run decisions writes it`]

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const pages = globSync(`${FOLDER}*.md`, { cwd: root }).map((path) => ({
    path: path.replaceAll('\\', '/'),
    text: readFileSync(`${root}/${path}`, 'utf8'),
  }))
  await writeOrCheck(`${root}/${LIST}`, writeList(pages), process.argv.slice(2))
}
