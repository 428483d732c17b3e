------------------------------ MODULE Semaphore ------------------------------
(* Processes that share a semaphore: who waits gets in only if entering is strongly fair for each process. *)
EXTENDS Integers
VARIABLES pc, free
vars == <<pc, free>>
Process == 0 .. 1
Init == pc = [p \in Process |-> "idle"] /\ free = TRUE

Ask(p) == pc[p] = "idle" /\ pc' = [pc EXCEPT ![p] = "waiting"] /\ UNCHANGED free
Enter(p) == pc[p] = "waiting" /\ free /\ pc' = [pc EXCEPT ![p] = "critical"] /\ free' = FALSE
Leave(p) == pc[p] = "critical" /\ pc' = [pc EXCEPT ![p] = "idle"] /\ free' = TRUE
Step(p) == Ask(p) \/ Enter(p) \/ Leave(p)

Next == Init /\ [][\E p \in Process : Step(p)]_vars
Nobody == Next /\ WF_vars(\E p \in Process : Step(p))
Each == Next /\ \A p \in Process : WF_vars(Step(p))
WeakEntry == Next /\ \A p \in Process : WF_vars(Enter(p)) /\ WF_vars(Leave(p))
SomeEntry == Next /\ SF_vars(\E p \in Process : Enter(p)) /\ \A p \in Process : WF_vars(Leave(p))
FirstEntry == Next /\ SF_vars(Enter(0)) /\ \A p \in Process : WF_vars(Leave(p))
StrongEntry == Next /\ \A p \in Process : SF_vars(Enter(p)) /\ WF_vars(Leave(p))
StrongStep == Next /\ \A p \in Process : SF_vars(Step(p))

Served == \A p \in Process : pc[p] = "waiting" ~> pc[p] = "critical"
FirstServed == pc[0] = "waiting" ~> pc[0] = "critical"
SomeoneServed == (\E p \in Process : pc[p] = "waiting") ~> (\E p \in Process : pc[p] = "critical")
FreeAgain == []<>free
Busy == []<>(\E p \in Process : pc[p] = "critical")
Taken == <>[]~free
==============================================================================
