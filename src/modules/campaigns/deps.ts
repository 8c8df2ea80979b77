import type { Db } from '../../db/database.ts'
import type { Scanner } from '../health-claims/scanner.ts'
import type { Store } from '../stores/schema.ts'
import type { Audience, CampaignPorts, Unsubscribe } from './ports.ts'

/** What mails of campaigns and reminders are written with. */
export interface MailDeps extends Audience, Pick<CampaignPorts, 'unsubscribeLabel'> {
  scanner: Scanner
  unsubscribeOf(db: Db, email: string): Unsubscribe
  /** The address of a store's storefront, without a path. Null where it is not known. */
  storefrontUrl(store: Pick<Store, 'tenant_ref' | 'primary_hostname'>): string | null
}
