import type { House } from '../house.ts'
import { httpTaxProvider } from '../pricing/tax.ts'
import type { OrderChangeDeps } from './deps.ts'

/** Opens the deps of all code that changes the money of an order. */
export function openOrderChanges(house: House): OrderChangeDeps & { idempotencyKey: Buffer } {
  const { config, payments, limits, key, logger, ports } = house
  const { TAX_PROVIDER_URL: url, TAX_PROVIDER_KEY } = config
  return {
    ...ports.orderChanges,
    payments,
    limits,
    velocityLimit: config.CHECKOUT_VELOCITY_PER_MINUTE,
    tax: url === undefined ? null : httpTaxProvider({ url, key: TAX_PROVIDER_KEY }),
    keys: { fingerprint: key('card fingerprint') },
    onAlert: (alert, message) => logger.error(alert, message),
    idempotencyKey: key('idempotency fingerprint'),
  }
}
