import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, ref } from '../../kernel/schema.ts'
import * as consent from './consent.ts'
import {
  CONSENT_STATES,
  Consent,
  ConsentImport,
  ImportResults,
  OneWithdrawal,
  WithdrawalRequest,
} from './consent-schema.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/consents'

export const merchantRoutes =
  ({ customersKey }: { customersKey: Buffer }): Routes =>
  async (app) => {
    app.get(
      path,
      {
        config: {
          scope,
          query: {
            email: Type.String({ description: 'The whole address, in any case.' }),
            customer_ref: Type.String({
              description:
                "The reference of a customer: lists the record of this customer's e-mail address.",
            }),
            state: Type.Enum([...CONSENT_STATES]),
            ...PAGE_QUERY,
          },
        },
        schema: {
          operationId: 'listConsents',
          tags,
          summary:
            'List the consents and withdrawals of readers, newest first: with `email`, the proof of one reader.',
          response: { 200: PageOf('consents', ref(Consent)) },
        },
      },
      ({ db, query }) => {
        const filters = {
          email: readText(query, 'email'),
          customer_ref: readText(query, 'customer_ref'),
          state: readOneOf(query, 'state', CONSENT_STATES),
        }
        return consent.list(db, customersKey, filters, readPage(query))
      },
    )

    app.post(
      `${path}/withdraw`,
      {
        config: { scope },
        schema: {
          operationId: 'withdrawConsent',
          tags,
          summary:
            'Record that a person no longer wants marketing mail, for example because they said so by phone.',
          body: WithdrawalRequest,
          response: { 200: OneWithdrawal },
        },
      },
      ({ db, actor, body }) => consent.withdraw(db, actor, body),
    )

    app.post(
      `${path}/import`,
      {
        config: { scope },
        schema: {
          operationId: 'importConsents',
          tags,
          summary:
            'Import consents that were given elsewhere, each with its evidence. A person who has unsubscribed here stays unsubscribed.',
          body: ConsentImport,
          response: { 200: ImportResults },
        },
      },
      ({ db, actor, body }) => consent.importConsents(db, actor, body),
    )
  }
