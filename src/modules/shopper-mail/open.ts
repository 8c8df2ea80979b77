import { codeKeys } from '../gift-cards/card-code.ts'
import type { House, WorkingHouse } from '../house.ts'
import { openLook } from '../sites/open.ts'
import type { MailDeps } from './compose.ts'

/** Opens the deps to write mails to shoppers: for the routes, and for the loop that sends them. */
export const openShopperMail = (house: House): MailDeps => ({
  ...openLook(house),
  linkKey: house.key('order link'),
  subscriptionKey: house.key('subscription link'),
  giftCardKeys: codeKeys(house.key),
})

/** Opens the deps to send mails to shoppers, for the loop and the test clock. */
export const openMailSending = (
  house: House,
  transport: NonNullable<WorkingHouse['transport']>,
) => ({
  ...openShopperMail(house),
  database: house.workerDatabase,
  transport,
  limits: house.limits,
  logger: house.logger,
  perMinute: house.config.SHOPPER_MAILS_PER_MINUTE,
})
