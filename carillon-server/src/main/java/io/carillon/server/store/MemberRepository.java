package io.carillon.server.store;

import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The members of projects: users with their roles. */
public final class MemberRepository {
    private static final String COLUMNS = """
            SELECT m.user_id, m.role, m.created_at AS member_since, m.created_by, m.used_at, u.issuer, u.subject,
                   u.name, u.email, u.created_at, u.login_at
              FROM carillon.project_member m JOIN carillon.app_user u ON u.id = m.user_id
            """;

    private static final String LIST =
            COLUMNS + "WHERE m.project = :project AND m.user_id > :after ORDER BY m.user_id LIMIT :limit";

    private static final String GET = COLUMNS + "WHERE m.project = :project AND m.user_id = :user";

    private static final String LIST_OF_USER = """
            SELECT project, role FROM carillon.project_member
             WHERE user_id = :user AND project > :after ORDER BY project LIMIT :limit
            """;

    // A request that needs the role keeps it until its transaction ends: the removal of the member waits for it.
    private static final String GET_ROLE = """
            SELECT role FROM carillon.project_member WHERE project = :project AND user_id = :user FOR SHARE
            """;

    private static final String LOCK_ADMINS = """
            SELECT user_id FROM carillon.project_member WHERE project = :project AND role = 'admin'
             ORDER BY user_id FOR NO KEY UPDATE
            """;

    private static final String INSERT = """
            INSERT INTO carillon.project_member (project, user_id, role, created_by)
            VALUES (:project, :user, :role, :by) ON CONFLICT (project, user_id) DO NOTHING
            """;

    private static final String COUNT = """
            SELECT count(*) FROM (SELECT 1 FROM carillon.project_member WHERE project = :project LIMIT :limit) m
            """;

    private static final String UPDATE_ROLE =
            "UPDATE carillon.project_member SET role = :role WHERE project = :project AND user_id = :user";

    private static final String DELETE =
            "DELETE FROM carillon.project_member WHERE project = :project AND user_id = :user";

    private static final String MARK_ADMIN =
            "UPDATE carillon.project SET had_admin = true WHERE project = :project AND NOT had_admin";

    // Of two logins, one changes the project; the other one then finds that it has had an admin.
    private static final String INSERT_FIRST_ADMIN = """
            WITH first AS (UPDATE carillon.project SET had_admin = true
                            WHERE project = :project AND NOT had_admin RETURNING project)
            INSERT INTO carillon.project_member (project, user_id, role, created_by)
            SELECT project, :user, 'admin', :by FROM first
            ON CONFLICT (project, user_id) DO UPDATE SET role = excluded.role
            """;

    /**
     * A member of a project.
     *
     * @param usedAt the first use of the project by the user; null if there was none
     */
    public record Member(
            UserRepository.StoredUser user,
            Role role,
            Instant since,
            String addedBy,
            @Nullable Instant usedAt) {}

    /** A project of a user. */
    public record Membership(String project, Role role) {}

    /** Returns members in the order of their ids, from after the user {@code after}. */
    public List<Member> list(Session session, String project, UUID after, int limit) throws SQLException {
        return session.query(LIST)
                .text("project", project)
                .uuid("after", after)
                .number("limit", limit)
                .list(MemberRepository::read);
    }

    public Optional<Member> get(Session session, String project, UUID user) throws SQLException {
        return session.query(GET).text("project", project).uuid("user", user).first(MemberRepository::read);
    }

    /** Returns the projects of a user in the order of their names, from after the name {@code after}. */
    public List<Membership> listOfUser(Session session, UUID user, String after, int limit) throws SQLException {
        return session.query(LIST_OF_USER)
                .uuid("user", user)
                .text("after", after)
                .number("limit", limit)
                .list(row -> new Membership(row.text("project"), Role.of(row.text("role"))));
    }

    /** Returns the role that a user has now, which stays until the end of the transaction. */
    public Optional<Role> roleNow(Session session, String project, UUID user) throws SQLException {
        return session.query(GET_ROLE)
                .text("project", project)
                .uuid("user", user)
                .first(row -> Role.of(row.text("role")));
    }

    /** Returns the admins of a project, whom no other transaction changes until this one ends. */
    public Set<UUID> lockAdmins(Session session, String project) throws SQLException {
        return session.query(LOCK_ADMINS).text("project", project).list(row -> row.uuid("user_id")).stream()
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the number of members, counted up to {@code limit}. */
    public long count(Session session, String project, int limit) throws SQLException {
        return session.query(COUNT)
                .text("project", project)
                .number("limit", limit)
                .first(row -> row.number("count"))
                .orElse(0L);
    }

    /** Adds a member. Returns false if the user is a member already. */
    public boolean insert(Session session, String project, UUID user, Role role, String by) throws SQLException {
        if (role == Role.ADMIN) markAdmin(session, project);
        return session.query(INSERT)
                        .text("project", project)
                        .uuid("user", user)
                        .text("role", role.text())
                        .text("by", by)
                        .update()
                == 1;
    }

    /** Changes the role of a member. Returns false if the user is not a member. */
    public boolean updateRole(Session session, String project, UUID user, Role role) throws SQLException {
        if (role == Role.ADMIN) markAdmin(session, project);
        return session.query(UPDATE_ROLE)
                        .text("project", project)
                        .uuid("user", user)
                        .text("role", role.text())
                        .update()
                == 1;
    }

    /** Removes a member. Returns false if the user is not a member. */
    public boolean delete(Session session, String project, UUID user) throws SQLException {
        return session.query(DELETE).text("project", project).uuid("user", user).update() == 1;
    }

    private static void markAdmin(Session session, String project) throws SQLException {
        session.query(MARK_ADMIN).text("project", project).update();
    }

    /** Makes a user an admin of a project that has never had one. Returns whether it had none. */
    public boolean insertFirstAdmin(Session session, String project, UUID user, String by) throws SQLException {
        return session.query(INSERT_FIRST_ADMIN)
                        .text("project", project)
                        .uuid("user", user)
                        .text("by", by)
                        .update()
                == 1;
    }

    private static Member read(Row row) throws SQLException {
        return new Member(
                new UserRepository.StoredUser(
                        row.uuid("user_id"),
                        row.text("issuer"),
                        row.text("subject"),
                        row.maybeText("name"),
                        row.maybeText("email"),
                        row.instant("created_at"),
                        row.maybeInstant("login_at")),
                Role.of(row.text("role")),
                row.instant("member_since"),
                row.text("created_by"),
                row.maybeInstant("used_at"));
    }
}
