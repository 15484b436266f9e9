package io.carillon.store;

/** The ports for actions of users and operators, all bound to one open transaction. */
public record AdminPorts(RunInbox inbox, RunAdmin runs, ScheduleAdmin schedules, LaneStore lanes, WakeChannel wake) {}
