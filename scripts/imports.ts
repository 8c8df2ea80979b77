import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cruise, type IModule } from 'dependency-cruiser'
import { AREAS } from '../src/compose/modules.ts'
import type { Area } from '../src/modules/face.ts'
import { findIdleUses, findWrongUses, importRules } from './import-rules.ts'

const PRODUCT = ['src', 'packages']

export interface ImportReport {
  modules: number
  violations: string[]
}

/** Checks the imports of a tree by the import rule, and by what its modules say that they use. */
export async function checkImports(baseDir: string, areas: readonly Area[]): Promise<ImportReport> {
  const { output } = await cruise(
    PRODUCT.filter((folder) => existsSync(join(baseDir, folder))),
    {
      baseDir,
      ruleSet: { forbidden: importRules(areas) },
      validate: true,
      // Types count too: a shape from a higher layer binds as firmly as a function.
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      enhancedResolveOptions: {
        extensions: ['.ts', '.js', '.mjs', '.json'],
        conditionNames: ['import', 'node', 'default'],
        exportsFields: ['exports'],
      },
    },
  )
  if (typeof output === 'string') throw new Error('the import check gave no result')
  const { summary } = output
  return {
    modules: summary.totalCruised,
    violations: [
      ...summary.violations.map(({ rule, from, to }) => `${from} > ${to}: ${rule.name}`),
      ...findWrongUses(areas),
      ...findIdleUses(areas, listEntered(output.modules)),
    ],
  }
}

/** The modules that each module enters. */
function listEntered(files: readonly IModule[]): Map<string, Set<string>> {
  const entered = new Map<string, Set<string>>()
  for (const { source, dependencies } of files) {
    const from = moduleOf(source)
    if (from === null) continue
    const into = entered.get(from) ?? new Set()
    for (const { resolved } of dependencies) into.add(moduleOf(resolved) ?? from)
    entered.set(from, into)
  }
  return entered
}

const moduleOf = (path: string): string | null => /^src\/modules\/([^/]+)\//.exec(path)?.[1] ?? null

if (import.meta.main) {
  const { modules, violations } = await checkImports(
    fileURLToPath(new URL('..', import.meta.url)),
    AREAS,
  )
  // A run that read no modules finds no violations, and must not pass.
  if (modules < 20) violations.push(`only ${modules} modules were read`)
  for (const violation of violations) process.stderr.write(`${violation}\n`)
  process.stdout.write(`imports: ${modules} modules, ${violations.length} violations\n`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
