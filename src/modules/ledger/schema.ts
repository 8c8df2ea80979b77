import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'

export const ACCOUNT_KINDS = [
  'card_clearing',
  'gift_card',
  'store_credit',
  'sales',
  'tax_payable',
  'shipping_income',
  'discount',
  'refund',
  'affiliate_payable',
  'breakage',
  'suspense',
  'dispute_loss',
  'exchange',
  'commission_expense',
  'affiliate_payout',
  'inventory_asset',
  'goods_in_transit',
  'cogs',
  'landed_cost',
  'inventory_opening',
  'inventory_adjustment',
] as const
export const AccountKind = Type.Enum([...ACCOUNT_KINDS])
export type AccountKind = Static<typeof AccountKind>

/** Accounts with an owner, whose balance can be held for an order. */
export type HeldKind = 'gift_card' | 'store_credit'

/** An entry of a journal. A debit is positive, a credit negative. */
export const Entry = Type.Object({
  account: AccountKind,
  ref: Type.String(),
  amount_cents: Type.Integer(),
})
export type Entry = Static<typeof Entry>

export interface NewJournal {
  /** What happened, e.g. `sale`, `gift_card.issued`. */
  kind: string
  currency: string
  order_id?: string | null
  ref?: string | null
  /** When it happened, if that is not now: business time. */
  at?: string | null
  /** Whether it is written even without entries, because figures count it: sales and edits of what costs nothing. */
  isCounted?: boolean
  entries: readonly { account: AccountKind; ref?: string; amount_cents: number }[]
}

/** An entry with its journal. */
export const PostedEntry = Type.Object({
  journal_id: Id,
  kind: Type.String(),
  journal_ref: Nullable(Type.String()),
  currency: Type.String(),
  ...Entry.properties,
  created_at: Timestamp,
})
export type PostedEntry = Static<typeof PostedEntry>

export const HOLD_STATES = ['pending', 'posted', 'voided', 'expired'] as const

export const Hold = Type.Object({
  id: Id,
  account: Type.Enum(['gift_card', 'store_credit']),
  ref: Type.String(),
  currency: Type.String(),
  amount_cents: Type.Integer(),
  order_id: Id,
  state: Type.Enum([...HOLD_STATES]),
  expires_at: Nullable(Timestamp),
  created_at: Timestamp,
  closed_at: Nullable(Timestamp),
})
export type Hold = Static<typeof Hold>

export interface NewHold {
  account: HeldKind
  ref: string
  currency: string
  amount_cents: number
  order_id: string
  expires_at?: string | null
}

/** A journal as its hash covers it: every column, in a form with exactly one spelling. */
export const CanonicalJournal = Type.Object({
  id: Id,
  kind: Type.String(),
  currency: Type.String(),
  order_id: Nullable(Id),
  ref: Nullable(Type.String()),
  /** With microseconds, as PostgreSQL stores it. */
  created_at: Type.String(),
  /** Position, account, ref, currency and amount, ordered by position. */
  entries: Type.Array(
    Type.Tuple([Type.Integer(), Type.String(), Type.String(), Type.String(), Type.Integer()]),
  ),
})
export type CanonicalJournal = Static<typeof CanonicalJournal>

/** A link of the hash chain. */
export const Link = Type.Object({ sequence: Type.Integer(), hash: Type.String() })

/** A link with the journal that it was computed from. The journal is null if it is missing. */
export const LinkWithJournal = Type.Object({
  sequence: Type.Integer(),
  hash: Type.String(),
  journal: Nullable(CanonicalJournal),
})
export type LinkWithJournal = Static<typeof LinkWithJournal>

const BalanceLine = Type.Object({
  account: AccountKind,
  currency: Type.String(),
  balance_cents: Type.Integer(),
})
export const Balance = BalanceLine
export type Balance = Static<typeof Balance>

/** What can be wrong with a ledger. */
export const FAULT_KINDS = [
  'broken_link',
  'wrong_checkpoint',
  'rewritten',
  'forged',
  'rolled_back',
  'stray_journal',
  'out_of_range',
] as const
const FaultKind = Type.Enum([...FAULT_KINDS])

/** A fault, and its place: the number of a link, or the id of a journal that has none. */
export interface Fault {
  kind: Static<typeof FaultKind>
  at: string
}

/** A row of `ledger_verified` without its lease: how far a store's chain is verified. */
export const Verified = Type.Object({
  sequence: Type.Integer(),
  /** Null if nothing is verified yet. */
  hash: Nullable(Type.String()),
  balances: Type.Array(BalanceLine),
  verified_at: Nullable(Timestamp),
  walk_sequence: Type.Integer(),
  walk_hash: Nullable(Type.String()),
  walk_balances: Type.Array(BalanceLine),
  walk_journal: Nullable(Id),
  walk_due_at: Nullable(Timestamp),
  walked_at: Nullable(Timestamp),
  fault: Nullable(FaultKind),
  fault_at: Nullable(Type.String()),
  fault_since: Nullable(Timestamp),
  mac: Nullable(Type.String()),
})
export type Verified = Static<typeof Verified>

export const Proof = Type.Object({
  trial_balance: Type.Array(BalanceLine, {
    description:
      'The sum of each kind of account and currency, in cents. Debits are positive. Journals of the ' +
      'value of stock, whose kind begins with `stock.`, post to accounts of their own: ' +
      '`inventory_asset` (what the goods on hand have cost), `cogs` (what the goods sold have cost), ' +
      '`goods_in_transit` (what vendors are owed for goods that have come), `landed_cost` (what others ' +
      'are owed for bringing them), `inventory_opening` (goods from before the first known cost) and ' +
      '`inventory_adjustment` (units found or lost).',
  }),
  balanced: Type.Boolean({ description: 'True: the accounts of each currency sum to zero.' }),
  journal_count: Type.Integer(),
  sealed_count: Type.Integer(),
  unsealed_count: Type.Integer({
    description: 'Journals that are committed and not numbered yet.',
  }),
  chain_head: Nullable(
    Type.Object({ sequence: Type.Integer(), hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
  ),
  verified: Type.Boolean({
    description:
      'True: the journals from `from` to `to`, hashed again, match the stored chain, the link at ' +
      '`checkpoint` is the one that was verified, and no `fault` is known.',
  }),
  from: Type.Integer(),
  to: Type.Integer(),
  next_from: Nullable(
    Type.Integer({
      description: 'The `from` of the next call. Null: the chain is verified to its head.',
    }),
  ),
  broken_at: Nullable(
    Type.Integer({ description: 'The number of the first journal that does not verify.' }),
  ),
  checkpoint: Nullable(
    Type.Object(
      {
        sequence: Type.Integer(),
        hash: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        verified_at: Timestamp,
        walked_at: Nullable(
          Type.String({
            format: 'date-time',
            description: 'When the whole history was last verified again. Null: not yet.',
          }),
        ),
      },
      {
        description: 'How far the platform itself has verified the chain, from the first journal.',
      },
    ),
  ),
  fault: Nullable(
    Type.Object(
      { kind: FaultKind, at: Type.String(), since: Timestamp },
      {
        description:
          'What the platform found: `at` is the number of a journal in the chain, or the id of one ' +
          'that is not in it.',
      },
    ),
  ),
})
export type Proof = Static<typeof Proof>

export const Counts = Type.Object({
  /** Counted up to a limit. */
  journals: Type.Integer(),
  /** The number of the newest link. */
  chained: Type.Integer(),
  /** Journals that wait for their number. */
  unchained: Type.Integer(),
  /** Journals that are counted in both. */
  doubled: Type.Integer(),
  /** Lines of later checkpoints at numbers without a checkpoint of the loop. */
  stray: Type.Integer(),
})
