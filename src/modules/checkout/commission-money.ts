import type { Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import { type Earned, earn, type FindTraces } from '../affiliates/earn-money.ts'
import { addressText } from '../fraud/address.ts'
import { normalise } from '../fraud/normalise.ts'
import type { Address } from '../fraud/schema.ts'
import { listTraces } from '../orders/customer-data.ts'
import type { WholeOrder } from '../orders/schema.ts'
import { withoutTax } from '../pricing/price.ts'
import { findExchangedGoods } from '../returns/exchange-money.ts'

/** Books the commission of a placed order: passes the facts of the order to the module of affiliates. */

const NOTHING: Earned = { isAttributed: false, journals: [] }

/** Books what the order earns its affiliate. An order without a code costs no statement. */
export async function earnCommission(tx: Tx, { order, charges }: WholeOrder): Promise<Earned> {
  const { referral_code: code } = order
  if (code === null) return NOTHING
  const { referral } = order.pricing
  const { sales_cents, discount_cents } = withoutTax(order)
  const sale = {
    order_id: order.id,
    currency: order.currency,
    code,
    source: referral?.source ?? ('code' as const),
    touched_at: referral?.touched_at ?? order.created_at,
    ordered_at: order.created_at,
    device_hash: referral?.device ? Buffer.from(referral.device, 'hex') : null,
    exchanged: order.source === 'exchange' ? await findExchangedGoods(tx, order.id) : null,
    base_cents: sales_cents - discount_cents,
    buyer: {
      customer_ref: order.customer_ref,
      person_id: order.person_id,
      email_folded: order.email === null ? null : foldEmail(order.email),
      cards: charges.flatMap(({ card_fingerprint }) => card_fingerprint ?? []),
      address: foldAddress(order.ship_to),
    },
  }
  return earn(tx, sale, findTraces)
}

const foldAddress = (address: Address | null): string | null =>
  address === null ? null : normalise('address', addressText(address))

/** Lists the cards that paid for the affiliate's own orders, and the addresses that these went to. */
const findTraces: FindTraces = async (tx, affiliate) => {
  const rows = await listTraces(tx, affiliate)
  const addresses = [affiliate.address, ...rows.map(({ ship_to }) => ship_to as Address | null)]
  return {
    cards: new Set(rows.flatMap(({ cards }) => cards)),
    addresses: new Set(addresses.flatMap((each) => foldAddress(each) ?? [])),
  }
}
