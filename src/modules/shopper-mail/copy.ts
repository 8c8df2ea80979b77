import type { MailFacts } from './facts.ts'
import type { MailCopy } from './schema.ts'
import { writeMail } from './service.ts'

/** The copy of a mail that its merchant may read, while the links and codes of the mail act for the shopper. */

/** The longest copy that is kept, in characters: that of an order with hundreds of lines. */
const LENGTH_MAX = 500_000

/**
 * Writes the copy of a mail. That of a gift card has none: the words of its buyer are erased where the card keeps them,
 * and the mail of a card that was given away does not go with its buyer.
 */
export function writeCopy(facts: MailFacts): MailCopy | null {
  if (facts.giftCard !== null) return null
  const copy = writeMail(withoutPowers(facts))
  return JSON.stringify(copy).length > LENGTH_MAX ? null : copy
}

function withoutPowers(facts: MailFacts): MailFacts {
  const { store, order, subscription } = facts
  const orders = order?.link && { ...order.link, url: `${store.url}/orders` }
  const shop = subscription?.link && { ...subscription.link, url: store.url ?? '' }
  return {
    ...facts,
    order: order && { ...order, link: orders ?? null },
    subscription: subscription && { ...subscription, link: shop ?? null },
  }
}
