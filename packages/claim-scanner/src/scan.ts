import { toDisplayOrder } from './bidi-text.ts'
import {
  FINDINGS_MAX,
  type Finding,
  RULE_SEVERITIES,
  type ScanResult,
  type Severity,
} from './findings.ts'
import { findMatches, type Match, type TextMatches } from './match.ts'
import { RULES_VERSION } from './rules-version.ts'
import { type Segment, walkStrings } from './walk-strings.ts'

const CONTEXT_CHARACTERS = 40

/** Phrases are short. Only invisible characters or markup within one make it longer than this. */
const TERM_CHARACTERS = 200

interface OrderedFinding extends Finding {
  order: number
}

/**
 * The findings by severity. The list is cut by severity first, and shown in document order.
 */
interface Collector {
  bySeverity: Record<Severity, OrderedFinding[]>
  count: number
  order: number
}

const newCollector = (): Collector => ({
  bySeverity: { CRITICAL: [], WARNING: [], INFO: [] },
  count: 0,
  order: 0,
})

/** Scans every string and every key of a document. */
export function scanDocument(value: unknown): ScanResult {
  const collector = newCollector()
  let hasNotice = false
  let goods: OrderedFinding | undefined
  walkStrings(value, (text, path) => {
    const textMatches = collectFrom(collector, path, text)
    hasNotice ||= textMatches.hasNotice
    if (goods === undefined && textMatches.goods !== undefined) {
      const rule = 'missing_disclaimer'
      const match: Match = { rule, severity: RULE_SEVERITIES[rule], ...textMatches.goods }
      goods = { ...toFinding(pointer(path), text, match), order: collector.order }
      collector.order += 1
    }
  })
  if (goods !== undefined && !hasNotice) add(collector, goods)
  return finish(collector)
}

/** Scans one text that is part of no document: the path of its findings is empty. */
export function scanOneText(text: string): ScanResult {
  const collector = newCollector()
  collectFrom(collector, [], text)
  return finish(collector)
}

/** Scans a text as it is written and, where that differs, as it is displayed. */
function collectFrom(collector: Collector, path: readonly Segment[], text: string): TextMatches {
  const textMatches = findMatches(text)
  collect(collector, path, text, textMatches.matches)
  const displayed = toDisplayOrder(text)
  if (displayed !== null) collect(collector, path, displayed, findMatches(displayed).matches)
  return textMatches
}

function collect(collector: Collector, path: readonly Segment[], text: string, matches: Match[]) {
  if (matches.length === 0) return
  const at = pointer(path)
  for (const match of matches) {
    // A finding beyond the limit is only counted.
    if (collector.bySeverity[match.severity].length === FINDINGS_MAX) collector.count += 1
    else add(collector, { ...toFinding(at, text, match), order: collector.order })
    collector.order += 1
  }
}

function add(collector: Collector, finding: OrderedFinding) {
  collector.count += 1
  collector.bySeverity[finding.severity].push(finding)
}

function finish({ bySeverity, count }: Collector): ScanResult {
  const findings = [...bySeverity.CRITICAL, ...bySeverity.WARNING, ...bySeverity.INFO]
    .slice(0, FINDINGS_MAX)
    .sort((a, b) => a.order - b.order)
    .map(({ order, ...finding }) => finding)
  return {
    passed: bySeverity.CRITICAL.length === 0,
    findings,
    truncated: count > FINDINGS_MAX,
    rulesVersion: RULES_VERSION,
  }
}

function toFinding(path: string, text: string, match: Match): Finding {
  const { rule, severity, start, end } = match
  const last = Math.min(end, start + TERM_CHARACTERS)
  return {
    path,
    term: slice(text, start, last),
    rule,
    severity,
    context: slice(text, start - CONTEXT_CHARACTERS, last + CONTEXT_CHARACTERS),
  }
}

/** A part of a text that never splits a surrogate pair. */
function slice(text: string, start: number, end: number): string {
  let first = Math.max(start, 0)
  let last = Math.min(end, text.length)
  if (isLow(text.charCodeAt(first)) && first > 0 && isHigh(text.charCodeAt(first - 1))) first += 1
  if (last > first && isHigh(text.charCodeAt(last - 1)) && isLow(text.charCodeAt(last))) last -= 1
  return text.slice(first, last)
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** A JSON Pointer, RFC 6901. */
const pointer = (path: readonly Segment[]) =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
