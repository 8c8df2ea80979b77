import { SHIPPING_PROPS, TAX_PROPS } from './policies.ts'
import { asset, email, line, list, object, slug, text, toggle, whole } from './prop.ts'

/** What a store does, and who it is: the members `behavior` and `brand` of a manifest. */

const offer = (meaning: string, fallback: boolean) =>
  object(meaning, { enabled: toggle('Whether it is on.', fallback) })

/** Ten years: no store means a longer time limit. */
export const RETURN_DAYS_MAX = 3_650

export const BEHAVIOR_PROPS = {
  shipping: object('How orders are shipped, and what that costs. Without rates it is free.', {
    ...SHIPPING_PROPS,
  }),
  tax: object('How orders are taxed. Without it there is no tax.', { ...TAX_PROPS }),
  search: offer('The search of the store.', true),
  accounts: offer(
    "Links to the shopper's orders, and the offer to remember the address. A mailed link opens an order in either case.",
    true,
  ),
  consent: offer(
    'Asks shoppers before their browser remembers the products they have seen.',
    false,
  ),
  giftCards: offer('Gift cards as a tender of the checkout.', false),
  storeCredit: offer('Store credit as a tender of the checkout.', false),
  subscriptions: offer(
    'Subscriptions to products that have one, while the store has the add-on `subscriptions`.',
    false,
  ),
  refunds: object('Refunds that shoppers make themselves.', {
    selfServe: toggle('Whether shoppers may refund their own orders, on the order page.', false),
  }),
  returns: object('What shoppers may ask to send back. The platform refuses the rest.', {
    windowDays: whole('How many days after the delivery. Without it there is no limit.', {
      max: RETURN_DAYS_MAX,
      nullable: true,
    }),
    finalSaleCollections: list(
      'Slugs of collections whose products cannot be returned.',
      200,
      slug('A collection.'),
    ),
  }),
  funnelGate: object(
    'A statement that must be accepted at the checkout, with the add-on `funnel_gate`.',
    {
      enabled: toggle('Whether it is on.', false),
      statementVersion: line('Its version, which a checkout names. Also a number.', {
        lengthMax: 100,
      }),
      statement: text('The statement itself. Without it, shoppers see the version.'),
    },
  ),
} as const

export const BRAND_PROPS = {
  name: line('The name that shoppers know.'),
  tagline: line('A line below it.'),
  email: email('Where shoppers can write to.'),
  logoRef: asset('The logo.'),
  faviconRef: asset('The icon of the browser tab.'),
  ogImageRef: asset('The image that others show beside a link to the store.'),
} as const
