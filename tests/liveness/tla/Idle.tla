-------------------------------- MODULE Idle --------------------------------
(* A step that changes nothing in one state: it is neither enabled nor taken there, as far as fairness is concerned. *)
EXTENDS Integers
VARIABLE x
Init == x = 0
Forth == x = 0 /\ x' = 1
Back == x = 1 /\ x' = 0
Poke == (x = 0 /\ x' = 0) \/ (x = 1 /\ x' = 2)
Next == Init /\ [][Forth \/ Back \/ Poke]_x
Moving == WF_x(Forth) /\ WF_x(Back)

Weak == Next /\ Moving /\ WF_x(Poke)
Strong == Next /\ Moving /\ SF_x(Poke)
Either == Next /\ WF_x(Forth) /\ WF_x(Back \/ Poke)
Together == Next /\ WF_x(Forth \/ Poke)

End == <>(x = 2)
EndForGood == <>[](x = 2)
One == []<>(x = 1)
Leaves == x = 0 ~> x # 0
=============================================================================
