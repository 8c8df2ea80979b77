import { HOUR_MS } from '../../kernel/time.ts'
import { forGood, owner, STORE, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const marketing = {
  name: 'marketing',
  is: 'coupons; and readers: their consents, the newsletter, suppressions',
  uses: ['affiliates', 'campaigns', 'customers', 'sites', 'stores'],
  tables: {
    consent_texts: forGood('What readers agreed to: proves their consents.'),
    coupon_codes: owner('coupons'),
    coupon_redemptions: owner('orders', 'counts towards the limits of a coupon'),
    coupons: forGood(STORE),
    global_mail_suppressions: forGood('A hash; until the operator lifts it or its owner confirms.'),
    mail_suppressions: forGood('An address, until it is lifted or the person is erased.'),
    marketing_consents: forGood('Proves who may be written to, until the person is erased.'),
    newsletter_subscribers: until(
      '30 days after a request without a confirmation; else until the person is erased',
      'newsletter upkeep',
    ),
  },
  counted: {
    coupon_codes: 'Codes of coupons.',
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  routes: async (house) => {
    const { database, operatorDatabase, config, limited, key } = house
    const [coupons, newsletter, consents, suppressions, { openNewsletter }, { acceptAnyDigits }] =
      await Promise.all([
        import('./routes.ts'),
        import('./newsletter-routes.ts'),
        import('./consent-routes.ts'),
        import('./suppression-routes.ts'),
        import('./open.ts'),
        import('../../http/card-text.ts'),
      ])
    const deps = openNewsletter(house)
    const feedbackKey = config.MAIL_FEEDBACK_KEY
    const operator = operatorDatabase.allStores
    return {
      public: [
        newsletter.pageRoutes(database, deps),
        acceptAnyDigits(suppressions.publicRoutes({ database, feedbackKey, limited })),
      ],
      merchant: [
        coupons.merchantRoutes,
        newsletter.merchantRoutes(deps),
        consents.merchantRoutes({ customersKey: key('customers') }),
        suppressions.merchantRoutes,
      ],
      storefront: [newsletter.storefrontRoutes(deps)],
      operator: [suppressions.operatorRoutes({ database, operator })],
    }
  },
  loops: async ({ workerDatabase: database }) => {
    const { deleteUnconfirmed } = await import('./newsletter-jobs.ts')
    return [loop('newsletter upkeep', HOUR_MS, () => deleteUnconfirmed(database))]
  },
  due: async () => {
    const { dueUnconfirmed } = await import('./newsletter-jobs.ts')
    return [{ rank: 'readers', work: [dueUnconfirmed] }]
  },
} as const satisfies Face
