package io.carillon.internal.store;

import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.schedule.ScheduleAdmin;

/** The ports for actions of users and operators, all bound to one open transaction. */
public record AdminPorts(RunAdmin runs, ScheduleAdmin schedules, LaneStore lanes, WakeChannel wake) {}
