import type { Db, Tx } from '../../db/database.ts'
import type { ListHeaders } from '../../platform/mail.ts'
import type { BounceKind } from './bounce.ts'

/** The people to whom a campaign may be mailed. */
export interface Audience {
  /** Throws where the store has no such segment. */
  requireSegment(db: Db, segment_id: string): Promise<unknown>
  /** The people of a segment after a folded address, in the order of their addresses. Throws as above. */
  members(
    db: Db,
    segment_id: string,
    after: string,
    limit: number,
  ): Promise<{ email: string; email_folded: string; customer_ref: string | null }[]>
  /** Returns the addresses that have consented and are not suppressed, at this moment. */
  mayBeMailed(db: Db, emails: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns the addresses that have not unsubscribed and are not suppressed, for mails that need no consent. */
  hasNotLeft(db: Db, emails: readonly string[]): Promise<ReadonlySet<string>>
}

/** The links that every mail to a reader must have. */
export interface Unsubscribe {
  url: string
  headers: ListHeaders
}

/** What makes the links by which readers leave. */
interface LinkDeps {
  /** Encrypts the addresses in links. */
  unsubscribeKey: Buffer
  publicUrl: () => string
}

export interface Bounce {
  /** The id of a bounce: the same attempt has the same id, and counts once. */
  event_id: string
  kind: BounceKind
  email: string
  /** The reply of the mail server. */
  detail: string
}

/**
 * What campaigns ask of modules that stand above them: coupons know their campaign, so that campaigns are below them
 * (decision 0054).
 */
export interface CampaignPorts extends Audience {
  linkToLeave(deps: LinkDeps, db: Db, email: string): Unsubscribe
  /** The label of the link to unsubscribe, in the language of a store. */
  unsubscribeLabel(language: string): string
  /** Writes down that a mail server refuses an address, in the transaction that writes the results of a wave. */
  recordBounce(tx: Tx, bounce: Bounce): Promise<unknown>
}
