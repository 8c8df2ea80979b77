import { SYSTEM } from '../../platform/audit.ts'
import { MERCHANT_HOLD } from '../orders/schema.ts'

/** Members of an answer that say something of a person. Whatever they hold is made null. */
const PERSONAL: ReadonlySet<string> = new Set([
  'email',
  'recipient_email',
  'ip',
  'ship_to',
  'person_id',
  'note',
])

/** Who is to be found no more. */
export interface Gone {
  /** What each reference is called from now on. */
  pseudonyms: ReadonlyMap<string, string>
  /** In lower case. Wherever one stands, it goes. */
  emails: readonly string[]
}

/**
 * A kept answer without the person: the same members, the same amounts, other names. A reason is in
 * somebody's own words, which stand where a text must be, unless it is that of a refusal or a hold of ours.
 */
export function scrubAnswer(body: string, { pseudonyms, emails }: Gone): string {
  const kept = JSON.parse(body) as object
  const isRefusal = 'error' in kept
  const isOurs = ({ by, reason }: { by?: unknown; reason?: unknown }) =>
    isRefusal || by === SYSTEM.name || reason === MERCHANT_HOLD
  return JSON.stringify(kept, function (this: object, name, value: unknown) {
    if (PERSONAL.has(name)) return null
    if (typeof value !== 'string') return value
    if (name === 'reason' && !isOurs(this)) return '[erased]'
    if (name === 'customer_ref') return pseudonyms.get(value) ?? value
    return emails.includes(value.toLowerCase()) ? null : value
  })
}
