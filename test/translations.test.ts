import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'node:test'
import type { Table } from '@fairdock/messages'
import { findFaults } from '@fairdock/messages/faults'
import { listTextFolders } from '../scripts/text-folders.ts'

const LANGUAGES = ['de', 'en', 'es', 'fr']

const ROOT = new URL('..', import.meta.url).pathname

const readTable = (folder: string, language: string): Table =>
  JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8'))

describe('the texts in files', () => {
  for (const folder of listTextFolders()) {
    const surface = relative(ROOT, folder)

    test(`${surface} has every language`, () => {
      const found = readdirSync(folder).filter((name) => name.endsWith('.json'))
      assert.deepEqual(
        found.sort(),
        LANGUAGES.map((language) => `${language}.json`),
      )
    })

    for (const language of LANGUAGES) {
      test(`${surface} has all texts in ${language}, with the values and plurals that they need`, () => {
        const english = readTable(folder, 'en')
        assert.deepEqual(findFaults(language, readTable(folder, language), english), [])
      })
    }
  }
})
