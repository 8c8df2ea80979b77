import { type Static, Type } from 'typebox'
import { Shared } from '../../kernel/schema.ts'

/** The rules a finding can name. The ids are part of the API and never change. */
export const RULE_SEVERITIES = {
  disease_claim: 'CRITICAL',
  human_use: 'CRITICAL',
  dosage: 'CRITICAL',
  approval_claim: 'CRITICAL',
  body_outcome: 'CRITICAL',
  testimonial: 'CRITICAL',
  product_identity: 'WARNING',
  efficacy_hype: 'WARNING',
  missing_disclaimer: 'INFO',
} as const

export type RuleId = keyof typeof RULE_SEVERITIES

/** As many findings as a merchant can read. A document with more is cut off here. */
export const FINDINGS_MAX = 200

export const Severity = Type.Enum(['CRITICAL', 'WARNING', 'INFO'])
export type Severity = Static<typeof Severity>

/** One place in a document that a rule objects to. */
export const Finding = Shared(
  'ClaimFinding',
  Type.Object({
    /** RFC 6901 JSON Pointer to the string, or to the member whose key it is. */
    path: Type.String(),
    /** The text as written. */
    term: Type.String(),
    rule: Type.Enum(Object.keys(RULE_SEVERITIES) as RuleId[]),
    severity: Severity,
    /** The term with at most 40 characters either side. */
    context: Type.String(),
  }),
)
export type Finding = Static<typeof Finding>

export const ScanResult = Type.Object({
  /** No finding is CRITICAL, including those that were left off. */
  passed: Type.Boolean(),
  findings: Type.Array(Finding),
  /** There were more findings than are listed. */
  truncated: Type.Boolean(),
  rulesVersion: Type.String(),
})
export type ScanResult = Static<typeof ScanResult>
