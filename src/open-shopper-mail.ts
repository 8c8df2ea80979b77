import { codeKeys } from './modules/gift-cards/card-code.ts'
import type { MailDeps } from './modules/shopper-mail/compose.ts'
import type { MailTransport } from './platform/mail.ts'
import type { Runtime } from './runtime.ts'
import { openStorefrontUrl } from './storefront-url.ts'

/** Opens the deps to write mails to shoppers: for the routes, and for the loop that sends them. */
export function openShopperMail({ config, key }: Pick<Runtime, 'config' | 'key'>): MailDeps {
  const { PUBLIC_URL, PORT, ASSET_BASE_URL } = config
  return {
    linkKey: key('order link'),
    subscriptionKey: key('subscription link'),
    giftCardKeys: codeKeys(key),
    assetBase: ASSET_BASE_URL || PUBLIC_URL || null,
    storefrontUrl: openStorefrontUrl(config, () => PUBLIC_URL ?? `http://localhost:${PORT}`),
  }
}

/** Opens the deps to send mails to shoppers, for the loop and the test clock. */
export const openMailSending = (runtime: Runtime, transport: MailTransport) => ({
  ...openShopperMail(runtime),
  database: runtime.workerDatabase,
  transport,
  limits: runtime.limits,
  logger: runtime.logger,
  perMinute: runtime.config.SHOPPER_MAILS_PER_MINUTE,
})
