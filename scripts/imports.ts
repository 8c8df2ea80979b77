import { fileURLToPath } from 'node:url'
import { cruise } from 'dependency-cruiser'
import { FORBIDDEN } from './import-rules.ts'

export interface ImportReport {
  modules: number
  violations: string[]
}

/** Checks the imports of a tree by the import rule. */
export async function checkImports(baseDir: string): Promise<ImportReport> {
  const { output } = await cruise(['src'], {
    baseDir,
    ruleSet: { forbidden: FORBIDDEN },
    validate: true,
    // Types count too: a shape from a higher layer binds as firmly as a function.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      conditionNames: ['import', 'node', 'default'],
      exportsFields: ['exports'],
    },
  })
  if (typeof output === 'string') throw new Error('the import check gave no result')
  const { summary } = output
  return {
    modules: summary.totalCruised,
    violations: summary.violations.map(({ rule, from, to }) => `${from} > ${to}: ${rule.name}`),
  }
}

if (import.meta.main) {
  const { modules, violations } = await checkImports(fileURLToPath(new URL('..', import.meta.url)))
  // A run that read no modules finds no violations, and must not pass.
  if (modules < 20) violations.push(`only ${modules} modules were read`)
  for (const violation of violations) process.stderr.write(`${violation}\n`)
  process.stdout.write(`imports: ${modules} modules, ${violations.length} violations\n`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
