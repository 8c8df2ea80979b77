import type { Slice } from './slices.ts'

/** The settings that say how long rows are kept, as `config.ts` reads them. */
export interface RetentionPeriods {
  RETENTION_WEBHOOK_DAYS: number
  RETENTION_AUDIT_DAYS: number
  RETENTION_TIMELINE_DAYS: number
  RETENTION_FRAUD_DAYS: number
  RETENTION_MAIL_DAYS: number
  RETENTION_SHOPPER_MAIL_DAYS: number
  RETENTION_GATEWAY_EVENT_DAYS: number
  RETENTION_COMPARISON_DAYS: number
  RETENTION_RESERVATION_DAYS: number
  RETENTION_FUNNEL_DAYS: number
  RETENTION_PRICE_DAYS: number
  /** Unset: for good. */
  SITE_VERSIONS_KEPT: number | undefined
}

export type RetentionSetting = keyof RetentionPeriods

/** How long the rows of a table are kept. */
export type Life =
  /** Kept forever, with the reason. */
  | { forGood: string }
  /** Kept as long as the row that they belong to, of the table `owner`. */
  | { owner: string; note?: string }
  /** Kept until the condition is met; then a loop of the worker removes them. */
  | {
      until: string
      loop: string
      setting?: RetentionSetting
      archived?: boolean
      /** Its rows that the loop of slices deletes. */
      slices?: readonly Slice[]
    }

/** The lives of tables, by name. */
export type Lives = Readonly<Record<string, Life>>

/** The loops that only serve retention. */
export const MONTHS_LOOP = 'old months'
export const SLICES_LOOP = 'old rows'

export const forGood = (why: string): Life => ({ forGood: why })
export const owner = (table: string, note?: string): Life =>
  note === undefined ? { owner: table } : { owner: table, note }
export const until = (what: string, loop: string): Life => ({ until: what, loop })

/** Dropped by whole months, but for the rows in partitions of no month, which are deleted in slices. */
export const byMonth = (
  setting: RetentionSetting,
  what: string,
  slices: readonly Slice[] = [],
): Life => ({ until: what, loop: MONTHS_LOOP, setting, archived: true, slices })

export const bySlice = (setting: RetentionSetting, what: string, slice: Slice): Life => ({
  until: what,
  loop: SLICES_LOOP,
  setting,
  archived: slice.line !== undefined,
  slices: [slice],
})

export const MONEY = 'Money: books must be provable for as long as the store exists.'
export const STORE = 'The store itself, and what its merchant set up.'

/** The lives of the tables that belong to no module; each module states its own in its face (decision 0022). */
export const PLATFORM_LIVES = {
  audit_log: byMonth('RETENTION_AUDIT_DAYS', 'a whole month is older than the period'),
  idempotency_keys: until(
    '30 days after their answer; for good if their operation moved money, except a checkout, whose order has the key',
    'idempotency upkeep',
  ),
  installation: forGood('Says which SECRET_KEY the database belongs to.'),
  limit_counters: until('the end of their window', 'limiter upkeep'),
  mails: {
    until: 'older than the period, sent or not',
    loop: SLICES_LOOP,
    setting: 'RETENTION_MAIL_DAYS',
  },
  outbox: until('handled for 7 days', 'outbox upkeep'),
  retention_archives: forGood('Lists the archives, which have no other list.'),
  schema_migrations: forGood('Says what the database looks like.'),
} as const satisfies Lives
