------------------------------- MODULE Toggle -------------------------------
(* A light that is toggled until someone finishes, under several kinds of fairness. *)
VARIABLES light, done
vars == <<light, done>>

Init == light = FALSE /\ done = FALSE
Toggle == ~done /\ light' = ~light /\ UNCHANGED done
Finish == ~done /\ done' = TRUE /\ UNCHANGED light
FinishLit == light /\ Finish

Next == Init /\ [][Toggle \/ Finish]_vars
NextLit == Init /\ [][Toggle \/ FinishLit]_vars

Nothing == Next
Either == Next /\ WF_vars(Toggle \/ Finish)
OnlyFinish == Next /\ WF_vars(Finish)
Weak == NextLit /\ WF_vars(Toggle) /\ WF_vars(FinishLit)
Strong == NextLit /\ WF_vars(Toggle) /\ SF_vars(FinishLit)
StrongAlone == NextLit /\ SF_vars(FinishLit)

Done == <>done
DoneAgain == []<>done
DoneForGood == <>[]done
Lit == <>light
DarkLeadsToLit == ~light ~> light
=============================================================================
