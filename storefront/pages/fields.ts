import { type Html, html } from '../html.ts'
import type { Phrases } from '../words/en.ts'

/** What forms are made of. A fault stands with its field, and is read out with it. */

export interface Field {
  name: string
  label: string
  complete: string
  type?: string
  optional?: boolean
  /** Beside another, where there is room. */
  pair?: boolean
}

export function textField(
  { name, label, complete, type = 'text', optional, pair }: Field,
  value: string,
  fault?: string,
): Html {
  const described =
    fault !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`
  return html`<label class="field${pair && ' field-pair'}"><span>${label}</span><input name="${name}" type="${type}" value="${value}" autocomplete="${complete}" maxlength="200"${!optional && html` required`}${described}>${
    fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`
  }</label>`
}

interface Check {
  name: string
  label: string
  value?: string
  note?: string
  checked: boolean
  required?: boolean
  /** Whether the total changes with it. */
  reprice?: boolean
  fault?: string
}

export function checkField(check: Check): Html {
  const { name, label, value = '1', note, checked, required, reprice, fault } = check
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${checked && html` checked`}${required && html` required`}${reprice && html` data-reprice`}${
    fault !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`
  }><span>${label}${note && html`<span class="check-note">${note}</span>`}${
    fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`
  }</span></label>`
}

/** Always empty: what was typed here before is never sent back. */
export function cardFields(say: Phrases, faults: Record<string, string>): Html {
  const one = (name: string, label: string, more: Html, complete: string, style = '') => {
    const fault = faults[name]
    return html`<label class="field ${style}"><span>${label}</span><input name="card_${name}" inputmode="numeric" autocomplete="${complete}" required ${more}${
      fault !== undefined && html` aria-invalid="true" aria-describedby="${name}-fault"`
    }>${fault !== undefined && html`<span class="fault" id="${name}-fault">${fault}</span>`}</label>`
  }
  return html`<div class="fields">${one('number', say.cardNumber, html`maxlength="23" placeholder="1234 1234 1234 1234"`, 'cc-number')}
${one('expiry', say.validUntil, html`maxlength="7" placeholder="${say.expiryHint}"`, 'cc-exp', 'field-half')}
${one('cvv', say.securityCode, html`maxlength="4" placeholder="123"`, 'cc-csc', 'field-half')}</div>`
}
