import { PlatformError } from '../api/platform-client.ts'
import type { Quote } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'

/**
 * The amount that each tender would pay of an order: store credit first, then the gift card, then a card. Only shown to
 * the shopper; the platform computes it again at the checkout.
 */
export interface TenderSplit {
  store_credit_cents: number
  giftCard: { last4: string; cents: number } | null
  /** Why the gift card does not count, or not yet. */
  giftCardError: string | null
  /** What is left to pay by card. */
  due_cents: number
}

interface TenderChoice {
  /** The code of a gift card; empty for none. */
  gift: string
  /** Whether to use the shopper's store credit. */
  credit: boolean
}

export async function splitOverTenders(
  context: PageContext,
  quote: Quote,
  choice: TenderChoice,
): Promise<TenderSplit> {
  const { offers } = context.site
  const { total_cents: total, store_credit_available_cents: available, gift_card_cents } = quote
  // No balance pays for a gift card.
  const payable = total - gift_card_cents
  const store_credit_cents = choice.credit && offers.storeCredit ? Math.min(available, payable) : 0
  const rest = total - store_credit_cents
  const split = { store_credit_cents, giftCard: null, giftCardError: null, due_cents: rest }
  if (choice.gift === '' || !offers.giftCards) return split
  const { card, error } = await findGiftCard(context, choice.gift)
  if (card === null) return { ...split, giftCardError: error }
  if (card.currency !== quote.currency || card.balance_cents === 0) {
    return { ...split, giftCardError: context.site.locale.texts.giftCardUnknown }
  }
  const cents = Math.min(card.balance_cents, payable - store_credit_cents)
  return { ...split, giftCard: { last4: card.code_last4, cents }, due_cents: rest - cents }
}

/** Finds a gift card. The platform allows few codes a minute; beyond that, the code is checked with the payment. */
async function findGiftCard({ api, site }: PageContext, code: string) {
  const { texts } = site.locale
  try {
    return { card: await api.findGiftCard(site, code), error: texts.giftCardUnknown }
  } catch (error) {
    const isLimited = error instanceof PlatformError && error.status === 429
    if (isLimited) return { card: null, error: texts.giftCardLater }
    throw error
  }
}
