import { Type } from 'typebox'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import type { MailDeps } from './deps.ts'
import { resendUnknown } from './resend.ts'
import {
  CAMPAIGN_STATUSES,
  Campaign,
  CampaignPatch,
  NewCampaign,
  RECIPIENT_STATES,
  Recipient,
  Schedule,
} from './schema.ts'
import * as campaigns from './service.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/campaigns'
const OneCampaign = Type.Object({ campaign: ref(Campaign) })

/** The refusals of a mail campaign that is to be sent. */
const SENDING = [
  'campaign_not_found',
  'segment_not_found',
  'invalid_transition',
  'ruo_claims_violation',
  'scan_unavailable',
] as const

export interface CampaignDeps extends MailDeps {
  limits: Pick<Limits, 'velocity'>
  /** Keys the fingerprints of requests with an Idempotency-Key. */
  idempotencyKey: Buffer
}

export const merchantRoutes =
  (deps: CampaignDeps): Routes =>
  async (app) => {
    app.post(
      path,
      {
        config: { scope, failures: ['segment_not_found', 'limit_reached'] },
        schema: {
          operationId: 'createCampaign',
          tags,
          summary: 'Create a campaign as a draft. It does nothing until it is scheduled.',
          body: NewCampaign,
          response: { 201: OneCampaign },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(201).send({ campaign: await campaigns.create(deps, db, actor, body) }),
    )

    app.get(
      path,
      {
        config: {
          scope,
          query: {
            status: Type.Enum([...CAMPAIGN_STATUSES]),
            channel: Type.String(),
            ...PAGE_QUERY,
          },
        },
        schema: {
          operationId: 'listCampaigns',
          tags,
          summary: "List the store's campaigns, newest first.",
          response: { 200: PageOf('campaigns', ref(Campaign)) },
        },
      },
      ({ db, query }) => {
        const status = readOneOf(query, 'status', CAMPAIGN_STATUSES)
        return campaigns.list(db, { status, channel: readText(query, 'channel') }, readPage(query))
      },
    )

    app.get(
      `${path}/:id`,
      {
        config: { scope, failures: ['campaign_not_found'] },
        schema: {
          operationId: 'readCampaign',
          tags,
          summary: 'Read a campaign, with its budget and how far its mails are.',
          params: Params('id'),
          response: { 200: OneCampaign },
        },
      },
      async ({ db, params }) => ({ campaign: await campaigns.get(db, params.id) }),
    )

    app.patch(
      `${path}/:id`,
      {
        config: {
          scope,
          failures: ['campaign_not_found', 'segment_not_found', 'invalid_transition'],
        },
        schema: {
          operationId: 'changeCampaign',
          tags,
          summary:
            'Change a campaign. The text can be changed before the campaign is active and while it is paused, the segment before its first mail is sent. Of a budget of which some is used, only the limit can be changed.',
          params: Params('id'),
          body: CampaignPatch,
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params, body }) => ({
        campaign: await campaigns.change(deps, db, actor, { id: params.id, patch: body }),
      }),
    )

    app.delete(
      `${path}/:id`,
      {
        config: { scope, failures: ['campaign_not_found', 'invalid_transition'] },
        schema: {
          operationId: 'deleteCampaign',
          tags,
          summary: 'Delete a draft that has no coupons. Cancel any other campaign.',
          params: Params('id'),
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params }) => ({
        campaign: await campaigns.remove(db, actor, params.id),
      }),
    )

    app.post(
      `${path}/:id/schedule`,
      {
        config: { scope, failures: SENDING },
        schema: {
          operationId: 'scheduleCampaign',
          tags,
          summary:
            'Start a campaign at its time, or now if it has none. A second call sets another time. A mail campaign that could not start within an hour of its time is paused and asks (`pause_reason: late`).',
          params: Params('id'),
          body: Schedule,
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params, body }) => ({
        campaign: await campaigns.schedule(deps, db, actor, { id: params.id, request: body }),
      }),
    )

    app.post(
      `${path}/:id/pause`,
      {
        config: { scope, failures: ['campaign_not_found', 'invalid_transition'] },
        schema: {
          operationId: 'pauseCampaign',
          tags,
          summary:
            'Pause a campaign: its coupons stop, and no more mails are begun. Orders that use a coupon keep it.',
          params: Params('id'),
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params }) => ({
        campaign: await campaigns.pause(db, actor, params.id),
      }),
    )

    app.post(
      `${path}/:id/resume`,
      {
        config: { scope, failures: SENDING },
        schema: {
          operationId: 'resumeCampaign',
          tags,
          summary:
            'Resume a paused campaign. Recipients who have no mail yet get one, except those of whom it is unknown whether their mail was sent: see `resend-unknown`.',
          params: Params('id'),
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params }) => ({
        campaign: await campaigns.resume(deps, db, actor, params.id),
      }),
    )

    app.post(
      `${path}/:id/cancel`,
      {
        config: { scope, failures: ['campaign_not_found', 'invalid_transition'] },
        schema: {
          operationId: 'cancelCampaign',
          tags,
          summary: 'Cancel a campaign for good. Mails that are not sent yet are never sent.',
          params: Params('id'),
          response: { 200: OneCampaign },
        },
      },
      async ({ db, actor, params }) => ({
        campaign: await campaigns.cancel(db, actor, params.id),
      }),
    )

    app.post(
      `${path}/:id/test`,
      {
        config: {
          scope,
          failures: [
            'campaign_not_found',
            'not_a_mail_campaign',
            'no_owner_address',
            'ruo_claims_violation',
            'scan_unavailable',
            'rate_limited',
          ],
        },
        schema: {
          operationId: 'testCampaign',
          tags,
          summary: "Mail a campaign to the store's owner alone, as readers would get it.",
          params: Params('id'),
          response: { 202: Type.Object({ email: Type.String() }) },
        },
      },
      async ({ db, actor, params }, reply) =>
        reply.code(202).send(await campaigns.sendTest(deps, db, actor, params.id)),
    )

    app.post(
      `${path}/:id/resend-unknown`,
      {
        config: {
          scope,
          idempotent: true,
          failures: [
            'campaign_not_found',
            'not_a_mail_campaign',
            'invalid_transition',
            'ruo_claims_violation',
            'scan_unavailable',
          ],
        },
        schema: {
          operationId: 'resendUnknownMails',
          tags,
          summary:
            'Send the mails of a campaign again of which it is unknown whether they were sent, up to 5,000 in a call. Some readers may get it twice. A campaign that ended with its last mail is active until they are sent; one that was cancelled, or whose end has passed, is refused.',
          params: Params('id'),
          response: {
            200: Type.Object({
              campaign: ref(Campaign),
              resent: Type.Integer({ description: 'How many are queued again.' }),
            }),
          },
        },
      },
      (request, reply) => {
        const { db, actor, params } = request
        const secret = deps.idempotencyKey
        const options = { operation: 'campaign_resend', secret, target: params.id }
        return once(request, reply, options, (claim) =>
          resendUnknown(deps, db, { actor, claim }, params.id),
        )
      },
    )

    app.get(
      `${path}/:id/recipients`,
      {
        config: {
          scope,
          failures: ['campaign_not_found'],
          query: { state: Type.Enum([...RECIPIENT_STATES]), ...PAGE_QUERY },
        },
        schema: {
          operationId: 'listCampaignRecipients',
          tags,
          summary:
            'List the recipients of a campaign, newest first. `unknown`: a crash left open whether the mail was sent.',
          params: Params('id'),
          response: { 200: PageOf('recipients', ref(Recipient)) },
        },
      },
      ({ db, params, query }) => {
        const state = readOneOf(query, 'state', RECIPIENT_STATES)
        return campaigns.listRecipients(db, { id: params.id, state }, readPage(query))
      },
    )
  }
