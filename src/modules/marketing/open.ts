import type { Db } from '../../db/database.ts'
import type { CampaignPorts } from '../campaigns/ports.ts'
import type { House } from '../house.ts'
import { openLook } from '../sites/open.ts'
import { isKeptFromMail } from '../stores/sandbox-mail.ts'
import * as stores from '../stores/service.ts'
import { hasNotLeft, mayBeMailed, type UnsubscribeDeps, unsubscribeHeaders } from './consent.ts'
import type { NewsletterDeps } from './newsletter.ts'
import { textsIn } from './newsletter-texts.ts'
import { recordRefusal } from './suppressions.ts'

/** Opens the deps to make links to leave: for the pages, and for mails to readers. */
export const openUnsubscribe = ({
  key,
  publicUrl,
}: Pick<House, 'key' | 'publicUrl'>): UnsubscribeDeps => ({
  unsubscribeKey: key('unsubscribe link'),
  publicUrl,
})

export const openNewsletter = (house: House): NewsletterDeps => ({
  ...openUnsubscribe(house),
  ...openLook(house),
  key: house.key('newsletter'),
  limits: house.limits,
})

/** What campaigns are told of readers: who may be mailed, and how they leave. */
export const FOR_CAMPAIGNS = {
  mayBeMailed: (db, emails) => leaveOutKept(db, mayBeMailed(db, emails)),
  hasNotLeft: (db, emails) => leaveOutKept(db, hasNotLeft(db, emails)),
  linkToLeave(deps, db, email) {
    const headers = unsubscribeHeaders(deps, db, email)
    // The header has the link between angle brackets.
    return { url: headers['List-Unsubscribe'].slice(1, -1), headers }
  },
  unsubscribeLabel: (language) => textsIn(language).leave,
  recordBounce: recordRefusal,
} satisfies Partial<CampaignPorts>

/** Leaves out whom a sandbox does not mail. */
async function leaveOutKept(db: Db, choosing: Promise<Set<string>>): Promise<Set<string>> {
  const chosen = await choosing
  if (chosen.size === 0) return chosen
  const store = await stores.get(db)
  return new Set([...chosen].filter((email) => !isKeptFromMail(store, email)))
}
