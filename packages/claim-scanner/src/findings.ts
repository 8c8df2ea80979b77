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

export type Severity = 'CRITICAL' | 'WARNING' | 'INFO'

/** As many findings as a merchant can read. A document with more is cut off here. */
export const FINDINGS_MAX = 200

/** One place in a document that a rule objects to. */
export interface Finding {
  /** RFC 6901 JSON Pointer to the string, or to the member whose key it is. */
  path: string
  /** The text as written. */
  term: string
  rule: RuleId
  severity: Severity
  /** The term with at most 40 characters either side. */
  context: string
}

export interface ScanResult {
  /** No finding is CRITICAL, including those that were left off. */
  passed: boolean
  findings: Finding[]
  /** There were more findings than are listed. */
  truncated: boolean
  rulesVersion: string
}
