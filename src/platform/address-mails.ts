import { DAY_SECONDS } from '../kernel/time.ts'
import { sha256 } from '../kernel/tokens.ts'
import type { Limits } from './rate-limits.ts'

/**
 * Bounds the mails that strangers can cause to one address: they fill in a form with it, and its owner gets the
 * mails. Each cause has a limit for all stores together. They are counted apart, so that a stranger who asks for
 * newsletters cannot keep the owner of the address from a new password.
 */
const PER_DAY = {
  /** Each store mails a reader twice a day at most, and few people join more than some newsletters in a day. */
  newsletter: 10,
  order_link: 20,
  sign_up: 20,
  password: 20,
} as const

export type AnonymousCause = keyof typeof PER_DAY

/** A limit of mails: so many in so many seconds. */
export interface MailLimit {
  bucket: string
  limit: number
  seconds: number
}

/** The limit of all mails of one cause to one address. */
export const limitOfAddress = (cause: AnonymousCause, email_folded: string): MailLimit => ({
  bucket: `address-mails:${cause}:${sha256(mailboxOf(email_folded)).toString('base64url')}`,
  limit: PER_DAY[cause],
  seconds: DAY_SECONDS,
})

/** Google delivers an address with any dots to one mailbox, under both of its names. */
const GOOGLE = /^(.+)@(?:gmail|googlemail)\.com$/

/**
 * The mailbox that an address leads to, as far as its form tells: without the part after a plus, which many providers
 * ignore, and at Gmail without dots. Of any other provider, dots are a part of the name.
 */
export function mailboxOf(email: string): string {
  const whole = email.replace(/\+[^@]*(?=@[^@]*$)/, '')
  const [, name] = GOOGLE.exec(whole) ?? []
  return name === undefined ? whole : `${name.replaceAll('.', '')}@gmail.com`
}

export interface ReservedMail {
  /** Whether all limits allow the mail. */
  isWithin: boolean
  /** Uncounts a mail that was not sent. It takes as long for one that was, so that no caller learns which. */
  settle(isSent: boolean): Promise<void>
}

/**
 * Counts a mail before it is known whether there is one to send, so that many requests at the same time do not pass
 * the limits together.
 */
export async function reserveMail(
  limits: Pick<Limits, 'velocity' | 'releaseHit'>,
  all: readonly MailLimit[],
): Promise<ReservedMail> {
  const counted = await Promise.all(
    all.map(({ bucket, limit, seconds }) => limits.velocity(bucket, limit, seconds)),
  )
  const release = ({ bucket }: MailLimit, isSent: boolean) =>
    limits.releaseHit(isSent ? `${bucket}:none` : bucket)
  return {
    isWithin: counted.every(Boolean),
    settle: async (isSent) => {
      await Promise.all(all.map((each) => release(each, isSent)))
    },
  }
}
