/** What a bounce means for an address: that it does not exist, or that it did not accept this mail. */
export type BounceKind = 'hard_bounce' | 'soft_bounce'

/** The enhanced status of a reply (RFC 3463): its class, its subject and its detail. */
const STATUS = /^\d{3}[ -]([245])\.(\d{1,3})\.(\d{1,3})\b/

/**
 * Details of the subject 1, addresses: unknown mailbox, unknown domain, bad syntax, moved away, a domain without mail.
 */
const NO_ADDRESS: readonly string[] = ['1', '2', '3', '6', '10']

/** The subject of security and policy: the server refuses us, which says nothing about the address. */
const POLICY = '7'

/**
 * Reads what the reply of a mail server means for the address that it refuses; null if nothing. Only the status says
 * that an address does not exist: servers reply 550 alone for a policy, too, and a hard bounce stops the mails of all
 * stores. A reply that is not clear counts as soft, and suppresses an address after some of them (decision 0059).
 */
export function bounceOf(reply: string): BounceKind | null {
  const [, kind, subject, detail = ''] = STATUS.exec(reply) ?? []
  if (subject === POLICY) return null
  const isGone = kind === '5' && subject === '1' && NO_ADDRESS.includes(detail)
  return isGone ? 'hard_bounce' : 'soft_bounce'
}
