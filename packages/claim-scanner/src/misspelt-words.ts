import { CLAIM_WORDS } from './lexicon.ts'
import { ORDINARY_WORDS } from './word-classes.ts'
import { buildTrie, lookUp, step, type WordTrie } from './word-trie.ts'

const ORDINARY = buildTrie(
  ORDINARY_WORDS.split(/\s+/).map((word, at) => [word, at]),
  'written',
)

/** A word of three letters is too short to be recognised when it is misspelt. */
const SHORTEST = 4
const LONGEST = 32
/** From this length on, the first two letters may be swapped, or all the inner ones mixed. */
const EASILY_READ = 5

/** The claim word that is misspelt with doubled or swapped letters, or -1. */
export function findMisspelt(units: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length < SHORTEST || length > LONGEST) return -1
  let sum = 0
  let isDoubled = false
  for (let at = start; at < end; at += 1) {
    const unit = units[at] as number
    sum = (sum + (WEIGHTS[unit] as number)) | 0
    isDoubled ||= at > start && unit === units[at - 1]
  }
  let found = isDoubled ? findDoubled(units, start, end) : -1
  if (found < 0 && MAYBE_SWAPPED[sum & FILTER_MASK] === 1) {
    found = findSwapped(units, start, end, BY_LETTERS.get(sum) ?? [])
  }
  return found >= 0 && isOrdinary(units, start, end) ? -1 : found
}

const isOrdinary = (units: Uint8Array, start: number, end: number) =>
  lookUp(ORDINARY, units, start, end) >= 0

const squeeze = (text: string) => text.replace(/(.)\1+/g, '$1')

/** The claim words with every doubled letter written once. */
const SQUEEZED: WordTrie = buildTrie(
  CLAIM_WORDS.filter(([text]) => text.length >= SHORTEST).map(([text, id]) => [squeeze(text), id]),
  'written',
)

/** The claim word if every doubled letter is read as one: "caancer", "cuuures". */
function findDoubled(units: Uint8Array, start: number, end: number): number {
  let node = 0
  for (let at = start; at < end; at += 1) {
    if (at > start && units[at] === units[at - 1]) continue
    node = step(SQUEEZED, node, units[at] as number)
    if (node === 0) return -1
  }
  return SQUEEZED.word[node] as number
}

/** A number for each letter, so that the sum of a word's letters is the same in any order. */
const WEIGHTS = Int32Array.from(
  { length: 128 },
  (_, unit) => Math.imul(unit + 1, 0x9e3779b1) ^ (unit * unit),
)

const FILTER_MASK = 0xffff
/** Whether the sum of any claim word ends in the same bits: most words are ruled out by this look. */
const MAYBE_SWAPPED = new Uint8Array(FILTER_MASK + 1)

interface Candidate {
  text: string
  id: number
}

/** The claim words by the sum of their letters. */
const BY_LETTERS = new Map<number, Candidate[]>()
for (const [text, id] of CLAIM_WORDS) {
  if (text.length < SHORTEST) continue
  let sum = 0
  for (let at = 0; at < text.length; at += 1) {
    sum = (sum + (WEIGHTS[text.charCodeAt(at)] as number)) | 0
  }
  const same = BY_LETTERS.get(sum)
  if (same === undefined) BY_LETTERS.set(sum, [{ text, id }])
  else same.push({ text, id })
  MAYBE_SWAPPED[sum & FILTER_MASK] = 1
}

/** The claim word with the same letters in another order: "cacner", "dibaetes". */
function findSwapped(
  units: Uint8Array,
  start: number,
  end: number,
  candidates: readonly Candidate[],
): number {
  const found = candidates.find(({ text }) => isSwapped(text, units, start, end))
  return found?.id ?? -1
}

/** Whether two letters beside each other are swapped, or the inner letters of a long word mixed. */
function isSwapped(text: string, units: Uint8Array, start: number, end: number): boolean {
  const { length } = text
  if (length !== end - start) return false
  let first = 0
  while (text.charCodeAt(first) === units[start + first]) first += 1
  let last = length - 1
  while (last > first && text.charCodeAt(last) === units[start + last]) last -= 1
  const isPair =
    last === first + 1 &&
    text.charCodeAt(first) === units[start + last] &&
    text.charCodeAt(last) === units[start + first]
  if (length < EASILY_READ) return isPair && first > 0
  return isPair || (first > 0 && last < length - 1)
}
