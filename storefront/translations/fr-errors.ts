import type { ErrorTexts } from './en-errors.ts'

const ENTER_CARD = 'Veuillez saisir une carte pour payer.'
const TRY_ANOTHER_CARD = 'Rien n’a été débité. Veuillez essayer une autre carte.'
const TOO_MANY_ATTEMPTS = 'Trop d’essais. Veuillez attendre une minute, puis réessayer.'

export const frErrors: ErrorTexts = {
  fieldRequired: 'Veuillez remplir ce champ.',
  checkEmail: 'Veuillez saisir une adresse e-mail valable.',
  checkPostcode: (example) => `Veuillez le vérifier, par exemple ${example}.`,
  confirmToContinue: 'Veuillez confirmer ce point pour continuer.',
  checkMarkedFields: 'Veuillez vérifier les champs signalés.',
  enterCard: ENTER_CARD,
  checkCard: 'Veuillez vérifier les données de votre carte.',
  cardFieldsFailed:
    'Les champs de carte du prestataire de paiement n’ont pas pu être chargés. Veuillez recharger la page.',
  cardNeedsScript:
    'Veuillez activer JavaScript pour payer par carte : les champs viennent du prestataire de paiement.',
  cardNotHere:
    'Le nouveau total dépasse votre paiement et la différence ne peut pas être payée ici. Veuillez passer une autre commande.',
  checkCardNumber: 'Veuillez vérifier le numéro de carte.',
  checkExpiry: 'Veuillez vérifier la date d’expiration : mois et année, par exemple 10/40.',
  cardExpired: 'Cette carte a expiré. Veuillez en utiliser une autre.',
  checkSecurityCode: 'Veuillez saisir les trois ou quatre chiffres du cryptogramme.',
  couponChanged: 'Nous avons vérifié votre code de réduction. Vérifiez le total, puis payez.',
  alreadySubmitted:
    'Ce panier a déjà été envoyé, peut-être depuis un autre onglet. Veuillez consulter vos commandes avant de payer à nouveau.',
  previousAttemptRefused:
    'Votre essai précédent n’a pas abouti et rien n’a été débité. Veuillez réessayer.',
  quoteExpired: 'Cette page est restée ouverte un moment. Vérifiez le total, puis payez.',
  cartChanged: 'Votre panier a changé. Vérifiez votre commande, puis payez.',
  totalOfAddress:
    'Le total comprend maintenant les taxes de votre adresse. Vérifiez-le, puis payez.',
  declines: {
    card_declined: `Votre carte a été refusée. ${TRY_ANOTHER_CARD}`,
    insufficient_funds: `La provision de votre carte est insuffisante. ${TRY_ANOTHER_CARD}`,
    card_not_supported: `Ce type de carte n’est pas accepté. ${TRY_ANOTHER_CARD}`,
    expired_card: `Votre carte a expiré. ${TRY_ANOTHER_CARD}`,
    incorrect_cvv:
      'Le cryptogramme ne correspond pas à la carte. Rien n’a été débité. Veuillez le vérifier ou essayer une autre carte.',
    processing_error:
      'Votre banque n’a pas pu traiter le paiement. Rien n’a été débité. Veuillez réessayer ou utiliser une autre carte.',
  },
  declined: `Votre paiement a été refusé. ${TRY_ANOTHER_CARD}`,
  refusals: {
    gift_card_spent:
      'Une partie de la carte cadeau a été dépensée, elle ne peut donc pas être remboursée. Veuillez contacter la boutique.',
    gift_card_issued:
      'Les cartes cadeaux d’une commande ne peuvent pas être modifiées. Veuillez contacter la boutique.',
    feature_not_enabled:
      'La boutique ne vend pas de cartes cadeaux pour le moment. Veuillez les retirer de votre panier.',
    return_window_closed: 'Le délai de retour est dépassé.',
    final_sale: 'Ces produits ne peuvent pas être renvoyés.',
    quantity_exceeds_returnable: 'Vous ne pouvez pas en renvoyer autant.',
    card_required: ENTER_CARD,
    fraud_rejected: 'Nous n’avons pas pu accepter cette commande. Veuillez contacter la boutique.',
    unreadable_policy:
      'La boutique ne peut pas prendre de commandes pour le moment. Veuillez la contacter.',
    country_not_served: 'Nous ne livrons pas dans ce pays. Veuillez en choisir un autre.',
    attestation_required: 'Veuillez confirmer la déclaration de la boutique, puis payez.',
    insufficient_stock: 'Le stock est insuffisant. Veuillez choisir une quantité plus petite.',
    variant_not_found: 'Un article de votre panier n’est plus disponible. Veuillez le retirer.',
    price_changed: 'Un prix a changé. Vérifiez le nouveau total, puis payez.',
    velocity_exceeded: TOO_MANY_ATTEMPTS,
    rate_limited: TOO_MANY_ATTEMPTS,
    currency_mismatch:
      'Les prix de vos articles sont dans des monnaies différentes. Veuillez les commander séparément.',
    gift_card_invalid:
      'Cette carte cadeau ne peut pas être utilisée. Rien n’a été débité. Veuillez retirer le code ou en essayer un autre.',
    subscription_card_required:
      'Un abonnement nécessite une carte. Payez une partie par carte ou commandez une seule fois, sans abonnement.',
    feature_disabled:
      'La boutique ne propose plus cette option. Rien n’a été débité. Vérifiez votre commande, puis payez.',
    invalid_transition: 'Ce n’est plus possible pour cette commande.',
    payment_request_closed: 'Il n’y a plus rien à payer pour cette commande.',
    order_busy: 'Cette commande est en cours de modification. Veuillez réessayer dans un instant.',
    idempotency_in_progress:
      'Votre commande est en cours de traitement. Un instant, s’il vous plaît.',
    disputed:
      'Le paiement de cette commande est contesté. Veuillez attendre la décision de votre banque.',
    not_refundable: 'Il ne reste rien à rembourser.',
    amount_exceeds_refundable:
      'Le montant dépasse ce qui peut encore être remboursé. Veuillez saisir un montant plus petit.',
    charge_not_found:
      'Ce paiement ne fait pas partie de la commande. Veuillez en choisir un autre.',
    refund_failed: 'La banque n’a pas accepté le remboursement. Veuillez réessayer plus tard.',
    payment_unconfirmed:
      'Votre banque ne l’a pas encore confirmé. N’envoyez pas le formulaire une seconde fois ; rechargez cette page plus tard pour voir le résultat.',
  },
  failed: 'Une erreur s’est produite chez nous. Rien n’a été débité. Veuillez réessayer.',

  coupons: {
    unknown: 'Ce code n’est pas valable. Veuillez vérifier l’orthographe.',
    expired: 'Ce code a expiré.',
    not_started: 'Ce code n’est pas encore valable.',
    exhausted: 'Ce code a été utilisé trop souvent et n’est plus valable.',
    per_customer: 'Vous avez déjà utilisé ce code.',
    min_subtotal: 'Votre panier n’atteint pas le montant minimum pour ce code.',
    not_applicable: 'Ce code ne s’applique pas aux articles de votre panier.',
  },
  couponRefused: 'Ce code ne peut pas être utilisé.',

  refundedBefore: (amount) =>
    `Ce formulaire a déjà remboursé ${amount}, et rien de plus n’a été remboursé. Pour un autre remboursement, veuillez l’envoyer à nouveau.`,
  editedBefore:
    'Ce formulaire avait déjà été envoyé. Vérifiez votre commande ci-dessous ; pour la modifier encore, envoyez-le à nouveau.',
  refusedBefore:
    'Ce formulaire avait déjà été envoyé et refusé, et rien n’a été modifié. Veuillez l’envoyer à nouveau.',
  checkAmount: 'Veuillez vérifier le montant.',
}
