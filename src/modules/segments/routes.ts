import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { NewSegment, PreviewRequest, Segment, SegmentPatch, SegmentPreview } from './schema.ts'
import * as segments from './service.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/segments'
const one = { scope, failures: ['segment_not_found'] as const }
const OneSegment = Type.Object({ segment: ref(Segment) })

export const merchantRoutes: Routes = async (app) => {
  app.post(
    path,
    {
      config: { scope, failures: ['segment_exists', 'limit_reached'] },
      schema: {
        operationId: 'createSegment',
        tags,
        summary: 'Create a segment: conditions on what people have ordered and agreed to.',
        body: NewSegment,
        response: { 201: OneSegment },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ segment: await segments.create(db, actor, body) }),
  )

  app.get(
    path,
    {
      config: { scope, query: PAGE_QUERY },
      schema: {
        operationId: 'listSegments',
        tags,
        summary: "List the store's segments, newest first.",
        response: { 200: PageOf('segments', ref(Segment)) },
      },
    },
    ({ db, query }) => segments.list(db, readPage(query)),
  )

  app.post(
    `${path}/preview`,
    {
      config: { scope },
      schema: {
        operationId: 'previewSegment',
        tags,
        summary: 'Count the people who meet some conditions, and show a few. Stores nothing.',
        body: PreviewRequest,
        response: { 200: SegmentPreview },
      },
    },
    ({ db, body }) => segments.preview(db, body),
  )

  app.get(
    `${path}/:id`,
    {
      config: one,
      schema: {
        operationId: 'readSegment',
        tags,
        summary: 'Read a segment.',
        params: Params('id'),
        response: { 200: OneSegment },
      },
    },
    async ({ db, params }) => ({ segment: await segments.get(db, params.id) }),
  )

  app.patch(
    `${path}/:id`,
    {
      config: { scope, failures: ['segment_not_found', 'segment_exists'] },
      schema: {
        operationId: 'changeSegment',
        tags,
        summary: 'Change the name or the conditions of a segment.',
        params: Params('id'),
        body: SegmentPatch,
        response: { 200: OneSegment },
      },
    },
    async ({ db, actor, params, body }) => ({
      segment: await segments.change(db, actor, params.id, body),
    }),
  )

  app.delete(
    `${path}/:id`,
    {
      config: one,
      schema: {
        operationId: 'deleteSegment',
        tags,
        summary: 'Delete a segment. The people in it stay as they are.',
        params: Params('id'),
        response: { 200: OneSegment },
      },
    },
    async ({ db, actor, params }) => ({
      segment: await segments.remove(db, actor, params.id),
    }),
  )
}
