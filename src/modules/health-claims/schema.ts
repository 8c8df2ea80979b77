import { RULE_SEVERITIES, type RuleId } from '@fairdock/claim-scanner/findings'
import { type Static, Type } from 'typebox'
import { Shared } from '../../kernel/schema.ts'

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
