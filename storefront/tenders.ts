import { PlatformError } from './platform.ts'
import type { Quote } from './types.ts'
import type { Visit } from './visit.ts'

/**
 * What pays for an order before a card does, as the platform would take it: store credit, then the
 * gift card. It is shown and no more than that: the platform works it out again.
 */
export interface Tenders {
  credit_cents: number
  gift: { last4: string; cents: number } | null
  /** What to say about a code that does not count, or not yet. */
  giftFault: string | null
  /** What is left for a card. */
  due_cents: number
}

interface Wish {
  /** The code of a gift card. */
  gift: string
  credit: boolean
}

export async function tendersOf(visit: Visit, quote: Quote, wish: Wish): Promise<Tenders> {
  const { offers } = visit.site
  const { total_cents: total, store_credit_available_cents: available } = quote
  const credit_cents = wish.credit && offers.storeCredit ? Math.min(available, total) : 0
  const rest = total - credit_cents
  const none = { credit_cents, gift: null, giftFault: null, due_cents: rest }
  if (wish.gift === '' || !offers.giftCards) return none
  const card = await findGift(visit, wish.gift)
  if (typeof card === 'string') return { ...none, giftFault: card }
  if (card.currency !== quote.currency || card.balance_cents === 0) {
    return { ...none, giftFault: visit.site.words.say.giftCardUnknown }
  }
  const cents = Math.min(card.balance_cents, rest)
  return { ...none, gift: { last4: card.code_last4, cents }, due_cents: rest - cents }
}

/** The platform lets few codes be tried in a minute; one that it will not look at now is looked at with the payment. */
async function findGift({ shop, site }: Visit, code: string) {
  const { say } = site.words
  try {
    return (await shop.findGiftCard(site, code)) ?? say.giftCardUnknown
  } catch (error) {
    if (error instanceof PlatformError && error.status === 429) return say.giftCardLater
    throw error
  }
}
