import type { AffiliateTexts } from './en-affiliates.ts'

export const frAffiliates: AffiliateTexts = {
  title: 'Devenir affilié',
  intro: (commission) =>
    `Recommandez cette boutique et gagnez ${commission} sur chaque commande qui vient de vous. Présentez-vous, nous vous répondrons par e-mail.`,
  name: 'Nom',
  website: 'Site ou profil (facultatif)',
  message: 'Comment nous recommanderiez-vous ? (facultatif)',
  apply: 'Envoyer la demande',
  sent: 'Merci. Nous étudierons votre demande et vous répondrons par e-mail.',
  closed: 'La boutique n’accepte pas de demandes en ce moment.',
  checkForm: 'Veuillez saisir votre nom et une adresse e-mail valide.',
  ended:
    'Ce lien n’est plus valable ou n’est pas complet. Veuillez en demander un nouveau à la boutique.',
  yours: 'Votre page d’affilié',
  earns: (commission) => `Vous gagnez ${commission} sur chaque commande qui vient de vous.`,
  suspended:
    'Les nouvelles commandes ne rapportent rien pour le moment. Ce que vous avez gagné vous reste acquis.',
  pending: 'En attente',
  approved: 'Prochain paiement',
  inPayout: 'En cours de versement',
  paid: 'Versé jusqu’ici',
  codes: 'Codes et liens',
  noCodes: 'Vous n’avez pas encore de code. Veuillez en demander un à la boutique.',
  codeEnded: 'ne compte plus',
  commissions: 'Vos commissions',
  noCommissions: 'Aucune commande n’est encore venue de vous.',
  types: { sale: 'Commande', renewal: 'Renouvellement', clawback: 'Repris' },
  statuses: {
    pending: 'en attente',
    approved: 'approuvée',
    paid: 'versée',
    declined: 'refusée',
    reversed: 'annulée',
  },
  payouts: 'Versements',
  noPayouts: 'Rien n’a encore été versé.',
  payoutStatuses: { pending: 'en cours', paid: 'versé', cancelled: 'annulé' },
}
