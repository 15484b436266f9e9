package io.carillon.internal.store;

import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.store.node.WakeChannel;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.store.run.WorkflowSignalStore;
import io.carillon.internal.store.schedule.ScheduleAdmin;
import io.carillon.internal.store.stats.StatsStore;

/** The ports for actions of users and operators, all bound to one open transaction. */
public record AdminPorts(
        RunAdmin runs,
        ScheduleAdmin schedules,
        LaneStore lanes,
        WakeChannel wake,
        StatsStore stats,
        EventStore events,
        RelayStore relays,
        SourceStore sources,
        WorkflowSignalStore signals) {}
