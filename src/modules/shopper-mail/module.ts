import { SECOND_MS } from '../../kernel/time.ts'
import { bySlice, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { shopperMailsSlice } from './retention-queries.ts'

export const shopperMail = {
  name: 'shopper-mail',
  is: 'mails to shoppers about their orders',
  uses: [
    'catalog',
    'fulfillment',
    'gift-cards',
    'order-changes',
    'order-links',
    'orders',
    'pricing',
    'returns',
    'sites',
    'stores',
    'subscriptions',
  ],
  tables: {
    shopper_mail_settings: owner('stores', 'one row for each'),
    shopper_mails: bySlice(
      'RETENTION_SHOPPER_MAIL_DAYS',
      'older than the period, sent or not',
      shopperMailsSlice,
    ),
  },
  customerData: () => import('./customer-data.ts'),
  routes: async (house) => {
    const [{ merchantRoutes, operatorRoutes }, { openShopperMail }] = await Promise.all([
      import('./routes.ts'),
      import('./open.ts'),
    ])
    return {
      merchant: [merchantRoutes({ ...openShopperMail(house), limits: house.limits })],
      operator: [operatorRoutes(house.operatorDatabase.allStores)],
    }
  },
  loops: async (house) => {
    const { transport } = house
    if (transport === null) return []
    const [{ createMailWorker }, { WAKE_SHOPPER_MAIL }, { openMailSending }] = await Promise.all([
      import('./jobs.ts'),
      import('./service.ts'),
      import('./open.ts'),
    ])
    return [
      {
        name: 'shopper mail',
        everyMs: SECOND_MS,
        // New mails wake it.
        wakeOn: [WAKE_SHOPPER_MAIL],
        open: (onFree) => createMailWorker({ ...openMailSending(house, transport), onFree }),
      },
    ]
  },
  due: async (house) => {
    if (house.transport === null) return []
    const [{ dueMails }, { openMailSending }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    return [{ rank: 'mails', work: [dueMails(openMailSending(house, house.transport))] }]
  },
} as const satisfies Face
