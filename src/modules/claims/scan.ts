import { type Match, type Reading, read } from './match.ts'
import { RULES_VERSION } from './rules.ts'
import {
  FINDINGS_MAX,
  type Finding,
  RULE_SEVERITIES,
  type ScanResult,
  type Severity,
} from './schema.ts'
import { asShown } from './turned.ts'
import { type Segment, walkStrings } from './walk.ts'

const CONTEXT_CHARACTERS = 40

/** A phrase is short; only invisible characters or markup within it make it longer than this. */
const TERM_CHARACTERS = 200

interface Found extends Finding {
  order: number
}

/**
 * What is kept of each severity: the list is cut by severity first, and shown in document order.
 */
interface Collector {
  kept: Record<Severity, Found[]>
  count: number
  order: number
}

const newCollector = (): Collector => ({
  kept: { CRITICAL: [], WARNING: [], INFO: [] },
  count: 0,
  order: 0,
})

/** Reads every string and every key of a document. */
export function scanDocument(value: unknown): ScanResult {
  const found = newCollector()
  let hasNotice = false
  let goods: Found | undefined
  walkStrings(value, (text, path) => {
    const reading = collectFrom(found, path, text)
    hasNotice ||= reading.hasNotice
    if (goods === undefined && reading.goods !== undefined) {
      const match: Match = { rule: 'missing_disclaimer', ...reading.goods }
      goods = { ...toFinding(pointer(path), text, match), order: found.order }
      found.order += 1
    }
  })
  if (goods !== undefined && !hasNotice) keep(found, goods)
  return finish(found)
}

/** Reads one text, which stands at the root of nothing: its path is empty. */
export function scanOne(text: string): ScanResult {
  const found = newCollector()
  collectFrom(found, [], text)
  return finish(found)
}

/** Reads a text as it is written and, where that differs, as it is shown. */
function collectFrom(found: Collector, path: readonly Segment[], text: string): Reading {
  const reading = read(text)
  collect(found, path, text, reading.matches)
  const shown = asShown(text)
  if (shown !== null) collect(found, path, shown, read(shown).matches)
  return reading
}

function collect(found: Collector, path: readonly Segment[], text: string, matches: Match[]) {
  if (matches.length === 0) return
  const at = pointer(path)
  for (const match of matches) {
    // What is counted and not shown need not be written out.
    if (found.kept[RULE_SEVERITIES[match.rule]].length === FINDINGS_MAX) found.count += 1
    else keep(found, { ...toFinding(at, text, match), order: found.order })
    found.order += 1
  }
}

function keep(found: Collector, finding: Found) {
  found.count += 1
  found.kept[finding.severity].push(finding)
}

function finish({ kept, count }: Collector): ScanResult {
  const findings = [...kept.CRITICAL, ...kept.WARNING, ...kept.INFO]
    .slice(0, FINDINGS_MAX)
    .sort((a, b) => a.order - b.order)
    .map(({ order, ...finding }) => finding)
  return {
    passed: kept.CRITICAL.length === 0,
    findings,
    truncated: count > FINDINGS_MAX,
    rulesVersion: RULES_VERSION,
  }
}

function toFinding(path: string, text: string, { rule, start, end }: Match): Finding {
  const last = Math.min(end, start + TERM_CHARACTERS)
  return {
    path,
    term: slice(text, start, last),
    rule,
    severity: RULE_SEVERITIES[rule],
    context: slice(text, start - CONTEXT_CHARACTERS, last + CONTEXT_CHARACTERS),
  }
}

/** A part of a text that tears no pair of surrogates apart. */
function slice(text: string, start: number, end: number): string {
  let first = Math.max(start, 0)
  let last = Math.min(end, text.length)
  if (isLow(text.charCodeAt(first)) && first > 0 && isHigh(text.charCodeAt(first - 1))) first += 1
  if (last > first && isHigh(text.charCodeAt(last - 1)) && isLow(text.charCodeAt(last))) last -= 1
  return text.slice(first, last)
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** RFC 6901. */
const pointer = (path: readonly Segment[]) =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
