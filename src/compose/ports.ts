import { followOrder } from '../modules/affiliates/follow-money.ts'
import { flagTest as flagInFigures } from '../modules/analytics/count.ts'
import { onNewLinks as countLinks } from '../modules/analytics/jobs.ts'
import { flagTest as flagInUsage } from '../modules/billing/meter.ts'
import { giveUpLabels, listLabels } from '../modules/carriers/give-up.ts'
import * as fulfillment from '../modules/fulfillment/service.ts'
import type { Ports } from '../modules/house.ts'
import { publicStock } from '../modules/inventory/service.ts'
import { FOR_CAMPAIGNS } from '../modules/marketing/open.ts'
import * as orders from '../modules/orders/service.ts'
import { keepCart } from '../modules/reminders/service.ts'
import { onCancelledRenewal, onRenewal } from '../modules/renewals/outcome.ts'
import {
  exchangeOf,
  listWaitingExchanges,
  openExchange,
} from '../modules/returns/exchange-money.ts'
import * as returns from '../modules/returns/service.ts'
import * as segmentCount from '../modules/segments/count.ts'
import { onNewLinks as countPeopleOfLinks } from '../modules/segments/jobs.ts'
import * as segments from '../modules/segments/service.ts'
import { queueMails } from '../modules/shopper-mail/service.ts'
import * as subscriptions from '../modules/subscriptions/service.ts'

/** Who gives what lower modules ask for. Each `ports.ts` says when its functions are called. */
export const PORTS: Ports = {
  campaigns: {
    ...FOR_CAMPAIGNS,
    requireSegment: segments.get,
    members: segments.members,
  },
  catalog: { readStock: publicStock },
  checkout: { onRenewal, keepCart },
  ledger: { journalsNumbered: [countLinks, countPeopleOfLinks] },
  orderChanges: {
    cancelParcels: fulfillment.cancelPending,
    listLabels,
    giveUpLabels,
    openExchange,
    listWaitingExchanges,
    async endSubscriptions(tx, order, reason) {
      await onCancelledRenewal(tx, order, reason)
      return subscriptions.cancelOfOrder(tx, order.id)
    },
  },
  orders: {
    listFulfillments: fulfillment.listOfOrder,
    listWork: fulfillment.listWorkOfOrder,
    listTracking: fulfillment.listTracking,
    listReturns: returns.listOfOrder,
    readForShopper: returns.readForShopper,
    findExchange: exchangeOf,
    subscriptionsOf: subscriptions.listOfOrder,
    // Reports, segments and bills leave a test order out, and it earns no affiliate a commission.
    async onTestFlag(tx, order, is_test) {
      await flagInFigures(tx, order, is_test)
      await flagInUsage(tx, order, is_test)
      await segmentCount.onTestFlag(tx, order)
      await followOrder(tx, { ...order, is_test }, { reason: 'test_order', ref: order.id })
    },
  },
  storeCredit: { requireOrder: orders.get },
  webhooks: { eventsNumbered: queueMails },
}
