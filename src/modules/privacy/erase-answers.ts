import { SYSTEM } from '../../platform/audit.ts'
import { MERCHANT_HOLD } from '../orders/schema.ts'

/** The members of an answer that have personal data. Their values become null. */
const PERSONAL: ReadonlySet<string> = new Set([
  'email',
  'recipient_email',
  'ip',
  'ship_to',
  'customer_name',
  'person_id',
  'note',
  'instructions',
  'label_url',
  'decline_reason',
])

/** The person to erase. */
export interface ErasedPerson {
  /** The pseudonym of each reference. */
  pseudonyms: ReadonlyMap<string, string>
  /** In lower case. Any text equal to one of them becomes null. */
  emails: readonly string[]
}

/**
 * Erases a person from a stored answer. The members and amounts stay. A `reason` is free text and becomes '[erased]',
 * except in a refusal and in a hold by the platform, whose texts are our own.
 */
export function erasePerson(body: string, { pseudonyms, emails }: ErasedPerson): string {
  const answer = JSON.parse(body) as object
  const isRefusal = 'error' in answer
  const isOurs = ({ by, reason }: { by?: unknown; reason?: unknown }) =>
    isRefusal || by === SYSTEM.name || reason === MERCHANT_HOLD
  return JSON.stringify(answer, function (this: object, name, value: unknown) {
    if (PERSONAL.has(name)) return null
    if (typeof value !== 'string') return value
    if (name === 'reason' && !isOurs(this)) return '[erased]'
    if (name === 'customer_ref') return pseudonyms.get(value) ?? value
    return emails.includes(value.toLowerCase()) ? null : value
  })
}
