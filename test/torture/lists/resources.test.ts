import { test } from 'node:test'
import { RESOURCES } from '../../harness/all-resources.ts'
import { openListPlans } from '../../harness/list-pages.ts'

test('a list in the resources of a module reads few pages, by every filter and however deep', async (t) => {
  for (const { pages } of RESOURCES) {
    if (pages === undefined) continue
    await t.test(pages.seed.trim().split(' (')[0], async (each) => {
      const lists = await openListPlans(each, async (admin) => void (await admin.query(pages.seed)))
      await pages.read(lists)
    })
  }
})
