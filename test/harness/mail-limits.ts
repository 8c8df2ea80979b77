import { type AnonymousCause, limitOfAddress } from '../../src/platform/address-mails.ts'
import type { Limits } from '../../src/platform/rate-limits.ts'

/** Counts so many mails of today to an address, as if strangers had caused them. */
export async function fillDay(
  limits: Pick<Limits, 'velocity'>,
  cause: AnonymousCause,
  email: string,
  mails: number,
): Promise<void> {
  const { bucket, limit, seconds } = limitOfAddress(cause, email)
  for (let n = 0; n < mails; n++) await limits.velocity(bucket, limit, seconds)
}
