import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Limited } from '../http/guards.ts'
import type { Metrics } from '../http/metrics.ts'
import type { NameReader } from '../http/reader.ts'
import type { Clock } from '../kernel/clock.ts'
import type { BlobStore } from '../platform/blobs.ts'
import type { BulkTransport } from '../platform/bulk-smtp.ts'
import type { DueWork } from '../platform/due-work.ts'
import type { KnownClocks } from '../platform/known-clocks.ts'
import type { LiveCache } from '../platform/live-cache.ts'
import type { MailTransport } from '../platform/mail.ts'
import type { Notifier } from '../platform/notifier.ts'
import type { Limits } from '../platform/rate-limits.ts'
import type { SafeFetch } from '../platform/safe-fetch.ts'
import type { CampaignPorts } from './campaigns/ports.ts'
import type { Carriers } from './carriers/service.ts'
import type { CatalogPorts } from './catalog/ports.ts'
import type { ProductFragments } from './catalog/product-fragments.ts'
import type { CheckoutPorts } from './checkout/ports.ts'
import type { PdfProcesses } from './documents/pdf-processes.ts'
import type { CustomerData, LimitsFace } from './face-parts.ts'
import type { Scanner } from './health-claims/scanner.ts'
import type { Identity } from './identity/deps.ts'
import type { LedgerPorts } from './ledger/ports.ts'
import type { ImageProcesses } from './media/image-processes.ts'
import type { PendingUploads } from './media/pending-uploads.ts'
import type { OrderChangePorts } from './order-changes/ports.ts'
import type { OrderPorts } from './orders/ports.ts'
import type { Payments } from './payments/service.ts'
import type { StoreCreditPorts } from './store-credit/ports.ts'
import type { Store } from './stores/schema.ts'
import type { Events } from './webhooks/define-event.ts'
import type { WebhookPorts } from './webhooks/ports.ts'

/**
 * What faces are given: types alone, so that a module can take what composition has opened without knowing who opened
 * it (decision 0075).
 */

/** What a process has open that no module owns. */
export interface House extends Opened {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  /**
   * How far sandbox stores have moved their time. Only a process that serves or works reads the clocks.
   */
  readonly clocks: KnownClocks
  /** Logged in as `fd_app`, for the API. */
  readonly database: Database
  /** Logged in as `fd_operator`, for the operator plane: it reads the rows of all stores. */
  readonly operatorDatabase: Database
  /** Logged in as `fd_worker`, for the background loops. */
  readonly workerDatabase: Database
  readonly limits: Limits
  /** The live cache. Only a process that serves listens for changes. */
  readonly cache: LiveCache
  /** The only way to call an address that a store chose. */
  readonly safeFetch: SafeFetch
  /** Notifies loops, in this and other processes, of new work. */
  readonly notifier: Notifier
  /** Storage for media. It is opened at its first use. */
  readonly blobs: BlobStore
  /** Null where no metrics port is set. */
  readonly metrics: Metrics | null
  /** Derives a key for each purpose. */
  key(purpose: string): Buffer
  /** The address of the platform's own pages. Without PUBLIC_URL a process that serves knows it once it listens. */
  publicUrl(): string
  /** The address of a store's storefront, without a path; null where it has none. */
  storefrontUrl(store: Pick<Store, 'tenant_ref' | 'primary_hostname'>): string | null
  /** What lower modules ask of higher ones, by the module that asks. */
  readonly ports: Ports
  /** Loads what each module does at the erasure of a customer, by its name. */
  loadCustomerData(): Promise<ReadonlyMap<string, CustomerData>>
}

/** What single modules own, and others use: opened once for the whole process. */
interface Opened {
  readonly scanner: Scanner
  /** The payment gateway of each store. */
  readonly payments: Payments
  /** The carriers that sell shipping labels. */
  readonly carriers: Carriers
  /** The processes for all work on images. */
  readonly images: ImageProcesses
  /** The processes that draw all PDFs. */
  readonly pdfs: PdfProcesses
}

/**
 * The functions that higher modules give to lower ones. `compose/ports.ts` binds them: the compiler refuses a process
 * with one missing.
 */
export interface Ports {
  readonly campaigns: CampaignPorts
  readonly catalog: CatalogPorts
  readonly checkout: CheckoutPorts
  readonly ledger: LedgerPorts
  readonly orderChanges: OrderChangePorts
  readonly orders: OrderPorts
  readonly storeCredit: StoreCreditPorts
  readonly webhooks: WebhookPorts
}

/** A house that serves the API, with what several modules share for that. */
export interface ServingHouse extends House {
  /** Counts refused attempts on public routes against their caller. */
  readonly limited: Limited
  /** Names who reads a public route. */
  readonly readerOf: NameReader
  /** The owners of stores, and how they prove who they are. */
  readonly owners: Identity
  /** Products as JSON, in memory. */
  readonly fragments: ProductFragments
  /** Counts the uploads of each store that are under way. */
  readonly pendingUploads: PendingUploads
  /** What triggers count for each store, by the key of the limit, and what it means. */
  readonly counted: Readonly<Record<string, string>>
  /** The limits that no trigger counts. */
  readonly limitFaces: readonly LimitsFace[]
  /** Every kind of events of a store, by its type. */
  readonly events: Events
  /** The base of the addresses of pictures; null where the operator wants none. */
  assetBase(): string | null
  /** Every kind of work that is due by a store's clock, to be asked for its times alone. */
  listDueWork(): Promise<readonly DueWork[]>
}

/** How a process that works sends mails. */
export interface Senders {
  /** Null where mails are not sent. */
  readonly transport: MailTransport | null
  /** The connections for the mails of campaigns; null like `transport`. */
  readonly bulk: BulkTransport | null
}

/** A house in which background work is done. */
export interface WorkingHouse extends House, Senders {
  /** Every kind of work that is due by a store's clock. */
  listDueWork(): Promise<readonly DueWork[]>
}
