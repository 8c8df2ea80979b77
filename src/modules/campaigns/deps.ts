import type { Db } from '../../db/database.ts'
import type { ListHeaders } from '../../platform/mail.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import type { Store } from '../stores/schema.ts'

/**
 * What campaigns need from modules on higher tiers: coupons know their campaign, so that campaigns are below them.
 */

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

export interface MailDeps extends Audience {
  scanner: Scanner
  unsubscribeOf(db: Db, email: string): Unsubscribe
  /** The label of the link to unsubscribe, in the language of a store. */
  unsubscribeLabel(language: string): string
  /** The address of a store's storefront, without a path. Null where it is not known. */
  storefrontUrl(store: Pick<Store, 'tenant_ref' | 'primary_hostname'>): string | null
}
