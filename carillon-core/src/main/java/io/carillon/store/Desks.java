package io.carillon.store;

/** The ports for what people do, all of them inside one transaction of theirs. */
public record Desks(RunInbox inbox, RunDesk runs, ScheduleDesk schedules, LaneStore lanes, WakeChannel wake) {}
