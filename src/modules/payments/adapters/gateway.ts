import type { Card } from './card.ts'
import type { Vocabulary } from './meanings.ts'
import type { GatewayResult, Lookup } from './schema.ts'

/** The source of a charge: a card, a token that the gateway gave the shopper's browser, or a stored card. */
export type Source =
  | { card: Card }
  | { payment_token: string }
  | {
      vault_id: string
      /**
       * The first transaction, made by the shopper. With it the merchant charges without the
       * shopper.
       */
      initial_txn_id?: string | null
    }

/** The contract's ship-to address. */
export interface ShipTo {
  label?: string | null
  line1?: string | null
  line2?: string | null
  city?: string | null
  state?: string | null
  postal_code?: string | null
  country?: string | null
}

export interface Charge {
  /** The id of our attempt. A gateway that gets it twice charges once. */
  ref: string
  amount_cents: number
  currency: string
  source: Source
  order_id: string
  order_number?: string | number | null
  email?: string | null
  ip?: string | null
  ship_to?: ShipTo | null
  /** Whether the gateway stores the card for later charges. */
  vault?: boolean
}

/** A card that a shopper gives for later charges. */
export interface CardCheck {
  ref: string
  source: Exclude<Source, { vault_id: string }>
  currency: string
  email?: string | null
  ip?: string | null
  /** The address that the issuer checks. */
  ship_to?: ShipTo | null
}

/** An amount of an earlier transaction that is captured or refunded. */
export interface TransactionAmount {
  ref: string
  txn_id: string
  amount_cents: number
  currency: string
}

/** One charge or refund in the gateway's record of a day. */
export interface DayRecord {
  ref: string
  txn_id: string
  kind: 'charge' | 'refund'
  /** Approved and not voided: money has moved, or is authorised. */
  is_active: boolean
  amount_cents: number
  created_at: string
}

/** The target of a lookup: our reference, or the gateway's transaction id. */
export type LookupTarget = { ref: string } | { txn_id: string }

/**
 * A payment gateway. Every call resolves within its deadline, and none rejects: a call without a usable answer is
 * `unknown` (a lookup: `unreachable`), and only a lookup can find out how it ended. A gateway never repeats a call
 * itself. Only a fenced gateway rejects, and then it has sent nothing.
 */
export interface Gateway extends Vocabulary {
  /** The name of its adapter. */
  readonly name: string
  authorize(charge: Charge): Promise<GatewayResult>
  /** Captures all or part of an authorisation, once. */
  capture(amount: TransactionAmount): Promise<GatewayResult>
  /** Authorises and captures in one call. */
  sale(charge: Charge): Promise<GatewayResult>
  /**
   * Voids an authorisation, or a capture that has not settled; a settled one is `already_settled`.
   */
  void(transaction: { txn_id: string }): Promise<GatewayResult>
  refund(amount: TransactionAmount): Promise<GatewayResult>
  lookup(target: LookupTarget): Promise<Lookup>
  /**
   * Verifies a card with an authorisation of nothing, and stores it for later charges of the merchant: in one call,
   * since a token can be used once.
   */
  verify(request: CardCheck): Promise<GatewayResult>
  /** Deletes a stored card. One that the gateway does not have is deleted already. */
  vaultDelete(request: { vault_id: string }): Promise<GatewayResult>
  /** Stores a card without charging it. */
  vaultAdd(request: { ref: string; source: Source }): Promise<GatewayResult>
  /** Charges a stored card without the shopper. */
  vaultCharge(
    charge: Omit<Charge, 'source' | 'vault'> & {
      vault_id: string
      initial_txn_id?: string | null
    },
  ): Promise<GatewayResult>
  /** Lists all records of the store between two times. Returns null if the gateway gives no answer. */
  listRecords(from: Date, to: Date): Promise<DayRecord[] | null>
}
